import type { Instant } from '#base/units.ts';

/** Members of the Secret's `data` that the peer knows: the trusted CAs, the served certificate, its key. */
export const SECRET_KEYS = Object.freeze({ ca: 'ca', cert: 'cert', key: 'key' });

/** Members in addition to {@link SECRET_KEYS} while a rotation is prepared (D-28); the peer overlooks them. */
export const NEXT_KEYS = Object.freeze({ cert: 'next-cert', key: 'next-key', from: 'next-from' });

/** Label of webhook configurations that get our CA; the value is `true`. */
export const INJECT_LABEL = 'grafana.com/inject-rollout-operator-ca';

/** Label of webhook configurations that are about one operator; the value is its namespace. */
export const NAMESPACE_LABEL = 'grafana.com/namespace';

/** Most CAs of one Secret. More come only from a user who wrote it by hand: each costs all readers time. */
export const mostAuthorities = 8;

/** A certificate that vouches for others. */
export interface Authority {
  /** Its DER form in base64: equal exactly where the certificates are. */
  readonly id: string;
  /** One PEM block, with a line break at its end. */
  readonly pem: string;
  readonly notAfter: Instant;
}

/** A certificate to serve with, and its key. */
export interface Leaf {
  /** As {@link Authority.id}, of the first certificate of the chain. */
  readonly id: string;
  /** PEM; may be a chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** When the last of the chain, and of the CA, begins. */
  readonly notBefore: Instant;
  /** When the first certificate of the chain, or the CA, expires. */
  readonly notAfter: Instant;
  readonly dnsNames: readonly string[];
  /** The CA that vouches for it. */
  readonly authority: Authority;
}

/** The next certificate, and from when on it is to be served in place of the current one. */
export interface NextLeaf {
  readonly leaf: Leaf;
  readonly from: Instant;
}

/** What a valid Secret holds. */
export interface SecretContent {
  readonly current: Leaf;
  readonly next: NextLeaf | undefined;
  /** Every CA that clients must trust; at least those of `current` and `next`. */
  readonly authorities: readonly Authority[];
}

/** What is known of the Secret. */
export type SecretState =
  | { readonly kind: 'absent' }
  /** Without any data: made to be filled. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'valid'; readonly content: SecretContent }
  /** It holds what we did not write, or what cannot be used; `message` names object and member. */
  | { readonly kind: 'refused'; readonly message: string };
