declare const brand: unique symbol;

/**
 * A `Base` that cannot be mixed up with another quantity of the same representation.
 *
 * Values are made only by the constructors next to each brand; arithmetic gives a plain `Base` again.
 */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
