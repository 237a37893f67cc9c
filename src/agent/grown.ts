/**
 * A list that only grows, shared by all states that it passes through: adding costs the same however long it is, and an
 * earlier state still sees what it saw. Two states that grow from the same one apart from each other get a copy.
 */
export interface Grown<T> {
  readonly length: number;
  /** The first `length` of these belong to this state; what follows belongs to later ones. */
  readonly shared: T[];
}

export function grown<T>(items: readonly T[] = []): Grown<T> {
  return { length: items.length, shared: [...items] };
}

export function grow<T>({ length, shared }: Grown<T>, item: T): Grown<T> {
  const mine = shared.length === length ? shared : shared.slice(0, length);
  mine.push(item);
  return { length: length + 1, shared: mine };
}

export function itemsOf<T>({ length, shared }: Grown<T>): readonly T[] {
  return shared.length === length ? [...shared] : shared.slice(0, length);
}

/** As `Grown`, for texts that are looked up. */
export interface Known {
  readonly size: number;
  /** Each text with its place in the order of adding. */
  readonly shared: Map<string, number>;
}

export function known(): Known {
  return { size: 0, shared: new Map() };
}

export function knows({ size, shared }: Known, text: string): boolean {
  return (shared.get(text) ?? size) < size;
}

export function learn(before: Known, text: string): Known {
  if (knows(before, text)) return before;
  const { size, shared } = before;
  const mine =
    shared.size === size ? shared : new Map([...shared].filter(([, place]) => place < size));
  mine.set(text, size);
  return { size: size + 1, shared: mine };
}
