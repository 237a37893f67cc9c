/** Types that recipe and verifier both state, each for itself: neither can bend the other's. */
import { type E, fieldsOf } from "./expressions.ts";

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
