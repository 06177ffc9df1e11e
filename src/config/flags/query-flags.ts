import { boolKind, stringKind } from './flag-kind.ts';
import type { Flag, FlagSet } from './go-flags.ts';

/** Which servers the queries of resources may be sent to. */
export interface QueryConfig {
  /** Entries as they are written; none: every host. */
  readonly allowedHosts: readonly string[];
  readonly permitsLoopback: boolean;
}

/** The flags that {@link queryFlags} adds. */
export interface QueryFlags {
  readonly queryHosts: Flag<string>;
  readonly isQueryLoopbackPermitted: Flag<boolean>;
}

/** Adds to `set` the flags of the queries that resources name, which no peer has. */
export function queryFlags(set: FlagSet): QueryFlags {
  return {
    queryHosts: set.add('query-allowed-hosts', stringKind, {
      default: '',
      help:
        'Hosts that queries of Prometheus may go to: host, host:port or *.suffix, separated by commas, each with http:// in front ' +
        'where https is not wanted. When empty: all but those of this host, of its link and of metadata services.',
    }),
    isQueryLoopbackPermitted: set.add('query-permit-loopback', boolKind, {
      default: false,
      help: 'Let queries of Prometheus go to addresses of this host, such as those of a sidecar.',
    }),
  };
}

/** Returns what `flags` come to. */
export function queryConfig({ queryHosts, isQueryLoopbackPermitted }: QueryFlags): QueryConfig {
  return {
    allowedHosts: queryHosts.value.split(',').filter((each) => each.trim() !== ''),
    permitsLoopback: isQueryLoopbackPermitted.value,
  };
}
