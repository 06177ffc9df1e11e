/** Why the conversations of the differential mode do not run on an existing cluster. */
export const NO_QUIET_SERVER =
  'conversations need an API server without controllers, which an existing cluster has';
