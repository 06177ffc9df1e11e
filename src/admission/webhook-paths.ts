/** Where each webhook is reached. */
export const webhookPaths = Object.freeze({
  noDownscale: '/admission/no-downscale',
  prepareDownscale: '/admission/prepare-downscale',
  podEviction: '/admission/pod-eviction',
  zpdbValidation: '/admission/zpdb-validation',
  // As controller-runtime calls them, where the configurations of the peer look (A5).
  phasedRolloutDefaults: '/mutate-sts-plus-v1alpha1-phasedrollout',
  phasedRolloutValidation: '/validate-sts-plus-v1alpha1-phasedrollout',
});
