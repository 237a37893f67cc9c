/**
 * What zod says is wrong, in words. The language of zod is a setting of the whole process, which is the application's,
 * so words that reach people are asked for at each reading: `schema.safeParse(value, IN_ENGLISH)`.
 */
import english from "zod/v4/locales/en.js";

export const IN_ENGLISH = { error: english().localeError };
