/** Why the conversations of the differential mode do not run on an existing cluster. */
export const NO_QUIET_SERVER =
  'conversations need an API server without controllers, which an existing cluster has';

/** Why no manager in Go runs. */
export const NO_MANAGER =
  'KUBEBUILDER_ASSETS has no kubebuilder-manager of this checkout, which is built only where the lane builds everything';

/** Why nothing is moved from the peer and back. */
export const NO_PEER =
  'KUBEBUILDER_ASSETS has no peer-stand-in of this checkout, which is built only where the lane builds everything';

/** Why kubectl does not run on an existing cluster. */
export const NO_DRAINING = 'kubectl cordons and drains nodes, as nobody may do unasked elsewhere';

/** Why nothing is installed on an existing cluster. */
export const NO_INSTALLING =
  'what is installed has definitions and Roles of the cluster, which nobody makes unasked elsewhere';

/** Why no real Prometheus is asked. */
export const NO_PROMETHEUS =
  'there is no prometheus in PATH: install the Debian package prometheus, as .ci/run does';
