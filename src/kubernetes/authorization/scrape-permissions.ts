import type { Permission } from './permission.ts';

/** What finding out who scrapes takes, in the whole cluster; nothing where metrics are served to every client, or to none. */
export const scrapePermissions: readonly Permission[] = Object.freeze([
  {
    group: 'authentication.k8s.io',
    resource: 'tokenreviews',
    verbs: ['create'],
    isClusterScoped: true,
    because: 'the API server is asked who owns the token of a scrape of /metrics',
  },
  {
    group: 'authorization.k8s.io',
    resource: 'subjectaccessreviews',
    verbs: ['create'],
    isClusterScoped: true,
    because: 'and whether that account may get /metrics',
  },
]);
