import type { Permission } from '#kubernetes/permission.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

const bundled = [
  resourceTypes.validatingWebhookConfigurations,
  resourceTypes.mutatingWebhookConfigurations,
];

/** What a self-signed certificate in the Secret `secretName` takes (R4), and the publication of its CA (R5). */
export function certificatePermissions(secretName: string): readonly Permission[] {
  return [
    {
      group: '',
      resource: 'secrets',
      // A rule for one name cannot permit to create it.
      verbs: ['create'],
      because: 'the certificate that all replicas share is made where there is none',
    },
    {
      group: '',
      resource: 'secrets',
      verbs: ['get', 'update'],
      resourceNames: [secretName],
      because: 'the certificate that all replicas share is read each minute, and renewed',
    },
    ...bundled.map(({ group, plural }) => ({
      group,
      resource: plural,
      verbs: ['list', 'watch', 'patch'],
      isClusterScoped: true,
      because:
        'the CA is written into the configurations labelled for this operator, and kept there',
    })),
  ];
}
