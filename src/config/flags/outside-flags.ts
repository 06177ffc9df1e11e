import { boolKind, intKind, stringKind } from './flag-kind.ts';
import type { FlagSet } from './go-flags.ts';

/** Whom StatefulsetRollouts talk to besides the API server, as the command line says. */
export type OutsideFlags = ReturnType<typeof allOfOutside>;

/** What these flags come to. */
export interface OutsideConfig {
  /** The name of the cluster, to Slack and to receivers; may be empty. */
  readonly clusterName: string;
  readonly callback: {
    /** `host`, `host:port` or `*.suffix`, each perhaps with `http://` in front; no receiver is called where there is none. */
    readonly allowedHosts: readonly string[];
    /** 1 or more. */
    readonly attempts: number;
    /** Undefined: what names no key of its own is not signed. */
    readonly signingKeyFile: string | undefined;
    readonly permitsLoopback: boolean;
  };
  readonly slack: {
    /** Undefined: only what names a token of its own is reported. */
    readonly tokenFile: string | undefined;
    /** Undefined: Slack itself. */
    readonly url: string | undefined;
  };
}

/** Adds to `set` the flags of receivers that are notified of rollouts. */
export function outsideFlags(set: FlagSet): OutsideFlags {
  return allOfOutside(set);
}

function allOfOutside(set: FlagSet) {
  return {
    clusterName: set.add('cluster-name', stringKind, {
      default: '',
      help: 'Name of this cluster in messages and callbacks.',
    }),
    allowedHosts: set.add('callback-allowed-hosts', stringKind, {
      default: '',
      help:
        'Hosts that callbacks may go to: host, host:port or *.suffix, separated by commas, each with http:// in front where https ' +
        'is not wanted. When empty: none.',
    }),
    attempts: set.add('callback-attempts', intKind, {
      default: 10,
      help: 'Failed calls of a receiver before it is given up.',
    }),
    signingKeyFile: set.add('callback-signing-key-file', stringKind, {
      default: '',
      help: 'File with the key that signs callbacks of resources that name none. When empty: these are not signed.',
    }),
    isLoopbackPermitted: set.add('callback-permit-loopback', boolKind, {
      default: false,
      help: 'Let callbacks go to addresses of this host; for tests.',
    }),
    slackTokenFile: set.add('slack-token-file', stringKind, {
      default: '',
      help: 'File with the token of Slack for resources that name none. When empty: those send no messages.',
    }),
    slackUrl: set.add('slack-api-url', stringKind, {
      default: '',
      help: 'Base URL of the API of Slack; for tests. When empty: that of Slack itself.',
    }),
  } as const;
}

/** Returns why the program cannot run with `flags`, as one sentence; undefined when it can. */
export function outsideProblem({ attempts, slackUrl }: OutsideFlags): string | undefined {
  if (attempts.value < 1) {
    return `--${attempts.name} must be at least 1: got ${attempts.value}`;
  }
  const url = slackUrl.value === '' ? undefined : URL.parse(slackUrl.value);
  if (url === undefined || (url !== null && /^https?:$/.test(url.protocol))) return undefined;
  return `--${slackUrl.name} must be a URL of http or https: got ${JSON.stringify(slackUrl.value)}`;
}

/** Returns what `flags` come to. */
export function outsideConfig(flags: OutsideFlags): OutsideConfig {
  return {
    clusterName: flags.clusterName.value,
    callback: {
      allowedHosts: flags.allowedHosts.value.split(',').filter((each) => each.trim() !== ''),
      attempts: flags.attempts.value,
      signingKeyFile: flags.signingKeyFile.value || undefined,
      permitsLoopback: flags.isLoopbackPermitted.value,
    },
    slack: {
      tokenFile: flags.slackTokenFile.value || undefined,
      url: flags.slackUrl.value || undefined,
    },
  };
}
