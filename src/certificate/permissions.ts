import type { Permission } from '#kubernetes/authorization/permission.ts';
import { type WebhookKind, webhookTypes } from './webhook-configuration.ts';

/** Names of the objects that the certificate is about. */
export interface CertificateNames {
  readonly secret: string;
  /** Names of the configurations that carry the CA. */
  readonly configurations: Readonly<Record<WebhookKind, readonly string[]>>;
}

/**
 * Returns what a self-signed certificate takes, and the publication of its CA. The Secret is shipped empty: no rule for one
 * name can permit creating it.
 */
export function certificatePermissions(names: CertificateNames): readonly Permission[] {
  return [
    {
      group: '',
      resource: 'secrets',
      verbs: ['get', 'update'],
      resourceNames: [names.secret],
      because: 'the certificate that all replicas share is read each minute, made and renewed',
    },
    ...(['validating', 'mutating'] as const).flatMap((kind) => {
      const { group, plural: resource } = webhookTypes[kind];
      const common = { group, resource, isClusterScoped: true };
      return [
        {
          ...common,
          // A watch is of all, whatever its selector says.
          verbs: ['list', 'watch'],
          because: 'the configurations labelled for this operator are found and watched',
        },
        {
          ...common,
          verbs: ['patch'],
          resourceNames: names.configurations[kind],
          because: 'the CA is written into the shipped configurations, and kept there',
        },
      ];
    }),
  ];
}
