/** How long an operator of the demo waits for the requests of a process before it, so that one can watch; else 120 s. */
export const horizonFlag = '-rollout.predecessor-horizon=6s';

/** What is told where somebody waits for that long. */
export const horizonSentence =
  'the demo shortens this wait to 6 s; it is 120 s unless -rollout.predecessor-horizon says otherwise';
