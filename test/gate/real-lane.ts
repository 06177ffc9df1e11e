/**
 * What the gate takes of the real lane: of each topic the scenarios that say most in the least time; those that stand for a
 * promise (promises.ts) are all among them. `npm run nightly` runs the whole, on two versions of Kubernetes.
 */
import type { GateTopic } from './gate-topic.ts';

/** By file, in the order of their folders. */
export const realGate: readonly GateTopic[] = [
  {
    file: 'test/real/admission/admission.test.ts',
    titles: ['webhooks on a real control plane'],
    why: 'what an API server makes of our answers cannot be seen elsewhere: all of it',
  },
  {
    file: 'test/real/admission/budgets.test.ts',
    titles: [
      '[scenario 84] a rollout under a budget of 1, with webhooks on',
      '[scenario 85] under a budget',
    ],
    why: 'one ledger for rollouts and evictions; the delay of a partition, which only waits, is for the night',
  },
  {
    file: 'test/real/admission/drains.test.ts',
    titles: ['drains on a real control plane'],
    why: 'drainers, a rollout and dying leaders at once: the test that found most',
  },
  {
    file: 'test/real/admission/other-injector.test.ts',
    titles: [],
    why: 'who owns a field only a real server knows; half a minute of waits is for the night',
  },
  {
    file: 'test/real/admission/unanswered.test.ts',
    titles: ['while no replica answers reviews'],
    why: 'what an API server lets pass by itself: only a real one evaluates conditions',
  },
  {
    file: 'test/real/control-plane/differential.test.ts',
    titles: ['one conversation, two servers'],
    why: 'half a minute keeps the embedded cluster honest, on which all other tests rest',
  },
  {
    file: 'test/real/control-plane/kubectl.test.ts',
    titles: ['kubectl rolls and drains'],
    why: 'what people type in a rollout; how objects are read and shown is for the night',
  },
  {
    file: 'test/real/control-plane/field-writers.test.ts',
    titles: ['who has written a set, as a real API server says'],
    why: 'the API server keeps the book of who wrote which field; the embedded one keeps none',
  },
  {
    file: 'test/real/control-plane/limited-updates.test.ts',
    titles: ['on a real control plane with MaxUnavailableStatefulSet'],
    why: 'the one feature gate that changes how pods are replaced',
  },
  {
    file: 'test/real/control-plane/refused-deletions.test.ts',
    titles: ['a webhook in the way of a write, on a real API server'],
    why: 'a text of the API server says that nothing was stored: a newer one may word it otherwise',
  },
  {
    file: 'test/real/custom-resources/bedrock.test.ts',
    titles: ['bedrock on a real control plane'],
    why: 'a quarter of a minute for all of the deploy tools',
  },
  {
    file: 'test/real/custom-resources/phased-rollout-front.test.ts',
    titles: ['deploy/phased-rollout on a real control plane'],
    why: 'the shipped manifests of a capability, as they are installed',
  },
  {
    file: 'test/real/custom-resources/phased-rollout.test.ts',
    titles: ['a PhasedRollout on a real control plane, with a real Prometheus'],
    why: 'a whole rollout by the checks of a real Prometheus',
  },
  {
    file: 'test/real/custom-resources/prometheus.test.ts',
    titles: ['a real Prometheus'],
    why: 'takes half a second',
  },
  {
    file: 'test/real/custom-resources/statefulset-rollout-definition.test.ts',
    titles: ['the definition of StatefulsetRollout on a real API server'],
    why: 'the rules in CEL are tried nowhere else',
  },
  {
    file: 'test/real/custom-resources/statefulset-rollouts.test.ts',
    titles: ['StatefulsetRollouts on a real control plane'],
    why: 'all of a capability in a minute and a half, mostly of waiting',
  },
  {
    file: 'test/real/custom-resources/zone-aware-controllers.test.ts',
    titles: ['zone-aware controllers on a real control plane'],
    why: 'updates and evictions under the Role of the peer',
  },
  {
    file: 'test/real/custom-resources/zone-aware-install.test.ts',
    titles: ['deploy/zone-aware-controllers on a real control plane'],
    why: 'the shipped manifests of a capability, as they are installed',
  },
  {
    file: 'test/real/install/install-beside-peer.test.ts',
    titles: ['the chart in place of the peer'],
    why: 'whether helm refuses to run beside the peer; takes seconds once helm is built',
  },
  {
    file: 'test/real/install/install-runs.test.ts',
    titles: [
      'reviews and rolls under the Roles of the chart, by default',
      "reviews and rolls under the Roles of the chart with the peer's Role",
      'reviews and rolls under the Roles of the kustomize base',
      'has its Deployment, made by the chart of the peer, replaced',
    ],
    why: 'one run under each kind of Role, and the move by helm; other names and upgrades are for the night',
  },
  {
    file: 'test/real/install/install-two-releases.test.ts',
    titles: ['two releases of the chart'],
    why: 'takes four seconds',
  },
  {
    file: 'test/real/install/install.test.ts',
    titles: ['what is installed'],
    why: 'whether the API server takes what chart and kustomize render, in all variants',
  },
  {
    file: 'test/real/lane/lane-ascription.test.ts',
    titles: ['ascribe()'],
    why: 'the record by which all others are judged; takes no time',
  },
  {
    file: 'test/real/lane/lane-binaries.test.ts',
    titles: ['findBinaries()', 'findHelm()', 'cacheFolder()'],
    why: 'takes no time',
  },
  {
    file: 'test/real/lane/lane-comparison.test.ts',
    titles: ['compare()', 'acceptedDifferences'],
    why: 'takes no time',
  },
  {
    file: 'test/real/lane/lane-existing.test.ts',
    titles: ['chosenCluster()'],
    why: 'which cluster the lane takes, and never a production one; the lane on an existing cluster is for the night',
  },
  {
    file: 'test/real/lane/lane-late-proxy.test.ts',
    titles: ['LateProxy'],
    why: 'takes no time',
  },
  {
    file: 'test/real/install/take-away.test.ts',
    titles: ['the commands of the README that take the operator away'],
    why: 'what people copy when a namespace does not end',
  },
  {
    file: 'test/real/migration/moving-commands.test.ts',
    titles: ['the commands of docs/moving.md'],
    why: 'what people copy from the page',
  },
  {
    file: 'test/real/migration/moving-repository.test.ts',
    titles: ['moving a Deployment that a tool applies'],
    why: 'what tools make of the strategy of a Deployment cannot be seen elsewhere',
  },
  {
    file: 'test/real/migration/moving.test.ts',
    titles: [
      'in the middle of a rollout renews 18 of 18 pods, never two zones at once, with a shortened wait',
      "what a start under the peer's Role tells is missing",
    ],
    why: 'there and back in mid-rollout; the same with the default wait of two minutes is for the night',
  },
  {
    file: 'test/real/rollout-group/hand-over.test.ts',
    titles: ['ten leaders of a rollout of 3 x 20 pods are killed'],
    why: 'killed, ended and halted leaders in one rollout; each single death, and whole waits, are for the night',
  },
  {
    file: 'test/real/rollout-group/long.test.ts',
    titles: ["a Go operator in the peer's manner"],
    why: 'a program of another author against the same cluster; what takes minutes is for the night',
  },
  {
    file: 'test/real/rollout-group/restart.test.ts',
    titles: ['an API server that is restarted'],
    why: 'every installation meets it',
  },
  {
    file: 'test/real/rollout-group/scaling.test.ts',
    titles: [
      'followers go down and up with a leader',
      'zones mirror a ReplicaTemplate down and up',
      'a group shrinks in the middle of a rollout',
      'three zones shrink once each pod was prepared for the delay',
    ],
    why: 'each way to scale, under both Roles; deaths and counts that return are for the night',
  },
  {
    file: 'test/real/rollout-group/scenarios.test.ts',
    titles: ['rollouts', '[cluster 3', '[cluster 43]', '[cluster 48]'],
    why: 'all rollouts under both Roles, and the sets, drains and deletions of Kubernetes that they rest on',
  },
];
