declare const brand: unique symbol;

/** A string that must not be mixed with other strings; minted only where it was just checked. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };
