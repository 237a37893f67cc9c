export const rows = (source: readonly object[], type: object = { n: "integer", k: "text" }) => ({
  inputs: { rows: [{ list: { record: type } }, source] as const },
});
export const list = { input: "rows" };
