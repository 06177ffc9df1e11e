/** Where each webhook is reached. */
export const webhookPaths = Object.freeze({
  noDownscale: '/admission/no-downscale',
  prepareDownscale: '/admission/prepare-downscale',
  podEviction: '/admission/pod-eviction',
  zpdbValidation: '/admission/zpdb-validation',
  // Where the configuration of the peer with ZoneDisruptionBudgets looks (EV-1).
  zonePodEviction: '/pod-eviction-v1',
  // As controller-runtime calls them, where the configurations of the peer look.
  phasedRolloutDefaults: '/mutate-sts-plus-v1alpha1-phasedrollout',
  phasedRolloutValidation: '/validate-sts-plus-v1alpha1-phasedrollout',
});
