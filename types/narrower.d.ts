/**
 * Narrower signatures for library functions that give `any`, which would switch every check on the result off. Only
 * seen while this repository is compiled; nothing of it is in what ships.
 */
interface ArrayConstructor {
  isArray(value: unknown): value is readonly unknown[];
}

interface ObjectConstructor {
  create<Made extends object>(prototype: null): Made;
  setPrototypeOf<Target extends object>(target: Target, prototype: object | null): Target;
}
