/** A path or a name as a shell takes it, for command lines that are printed to be typed. */
export function quoted(text: string): string {
  return /^[\w./@%+,:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
