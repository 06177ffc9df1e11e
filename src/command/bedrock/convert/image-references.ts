import { seen } from '../parse/finding.ts';

/** An image reference, or why there is none: a clause. */
export type Reference =
  | { readonly kind: 'valid'; readonly reference: string }
  | { readonly kind: 'invalid'; readonly why: string };

/** Registry and repository, perhaps a tag, and the digest that says which image it is no matter who moves the tag. */
const digested = /^[A-Za-z0-9][\w.:/-]*@(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;
const tagged = /^[A-Za-z0-9][\w.:/-]*$/;
const longest = 1_024;

/** Which images run under the names of a file (H-15). */
export class ImageReferences {
  readonly #references: ReadonlyMap<string, string>;
  readonly #areTagsAllowed: boolean;

  /** @param references by name of the image */
  constructor(references: ReadonlyMap<string, string>, areTagsAllowed: boolean) {
    this.#references = references;
    this.#areTagsAllowed = areTagsAllowed;
  }

  /** Names that were given. */
  get names(): readonly string[] {
    return [...this.#references.keys()];
  }

  /** Returns the reference of the image `name` of the file. */
  referenceOf(name: string): Reference {
    const reference = this.#references.get(name);
    if (reference !== undefined) return this.#checked(reference);
    const why = `is not given: add --image ${name}=<reference>@sha256:<digest>`;
    return { kind: 'invalid', why };
  }

  /** Returns the reference that `image` is, or is a name of. */
  resolve(image: string): Reference {
    return this.#references.has(image) ? this.referenceOf(image) : this.#checked(image);
  }

  #checked(reference: string): Reference {
    if (reference.length <= longest) {
      if (digested.test(reference)) return { kind: 'valid', reference };
      if (this.#areTagsAllowed && tagged.test(reference)) return { kind: 'valid', reference };
    }
    const orTag = this.#areTagsAllowed
      ? 'must be a reference of an image'
      : 'must be a reference with a digest, as in registry.example/web@sha256:<64 hexadecimal digits>, unless there is --allow-tags';
    return { kind: 'invalid', why: `${orTag}: got ${seen(reference)}` };
  }
}
