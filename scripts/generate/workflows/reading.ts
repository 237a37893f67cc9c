/** Types that recipe and verifier both state, each for itself: neither can bend the other's. */
import { type E, fieldsOf, listOf, optional } from "./expressions.ts";

/** An engagement document; `population` is the list of what may be sampled. */
export const engagementOf = (population: E, more: { readonly [name: string]: E }): E =>
  fieldsOf({
    id: "text",
    work: "text",
    title: "text",
    authorised: fieldsOf({ by: "text", on: "date" }),
    evidence: fieldsOf({ source: "text", sha256: "text" }),
    population,
    sample: fieldsOf({ seed: "text", size: "integer", all_from: optional("integer") }),
    ...more,
  });

/** An item of the population. */
export const MEMBER = fieldsOf({ id: "text", amount: "integer" });

/** Where evidence stands. */
export const PLACE = fieldsOf({
  id: "text",
  source: "text",
  sha256: "text",
  from: "integer",
  count: "integer",
});

/** What the workpaper answers. */
export const ENTRY = fieldsOf({
  position: "integer",
  key: "text",
  operation: "text",
  content: "json",
});
export const ENTRIES = fieldsOf({ entries: listOf("entry"), end: "integer" });

/** What the file tool answers about a record. */
export const readOf = (json: E): E =>
  fieldsOf({
    source: "text",
    sha256: "text",
    from: "integer",
    count: "integer",
    media_type: "text",
    json,
  });
