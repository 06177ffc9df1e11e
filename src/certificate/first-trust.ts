import type { Informer } from '#kubernetes/informer/informer.ts';
import type { WebhookConfigurationView } from './webhook-configuration.ts';

/** What {@link FirstTrust} looks at. */
export interface FirstTrustPorts {
  /** The validating configurations that carry the label of our namespace. */
  readonly configurations: Pick<Informer<WebhookConfigurationView>, 'onChange'>;
  /** Reports whether the webhook of a name is one of those that are asked about. */
  readonly isAsked: (name: string) => boolean;
}

/**
 * Remembers whether the API server could call a webhook before this process had it trusted: a configuration that is seen for the first
 * time without a CA bundle lets no server answer, so that nobody can have answered through it.
 */
export class FirstTrust {
  #sight: 'none' | 'untrusted' | 'trusted' = 'none';

  /** Begins to look at the configurations, each when it is seen first. */
  constructor({ configurations, isAsked }: FirstTrustPorts) {
    configurations.onChange(({ kind, object }) => {
      if (kind !== 'added') return;
      const asked = object.webhooks.filter(({ name }) => isAsked(name));
      if (asked.length === 0) return;
      const isTrusted = asked.some(
        ({ bundle, hasForeignText }) => bundle.length > 0 || hasForeignText,
      );
      // Of two configurations either may have let a server answer.
      if (isTrusted) this.#sight = 'trusted';
      else if (this.#sight === 'none') this.#sight = 'untrusted';
    });
  }

  /** Reports whether nobody can have answered before: each configuration was without a CA bundle when it was seen first. */
  get isCertain(): boolean {
    return this.#sight === 'untrusted';
  }
}
