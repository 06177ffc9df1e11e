/** Where each webhook is reached. */
export const webhookPaths = Object.freeze({
  noDownscale: '/admission/no-downscale',
  prepareDownscale: '/admission/prepare-downscale',
  podEviction: '/admission/pod-eviction',
  zpdbValidation: '/admission/zpdb-validation',
});
