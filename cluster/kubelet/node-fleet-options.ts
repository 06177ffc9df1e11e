/** One node of the stand-in (KU-1). */
export interface NodeConfig {
  readonly name: string;
  /** Value of `topology.kubernetes.io/zone`; absent for none. */
  readonly zone?: string;
  /** Further labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Pods that fit. @default 10,000 */
  readonly podCapacity?: number;
}

/** Nodes by number instead of by name. */
export interface NodeCount {
  /** Nodes in all, dealt to the zones in turn. */
  readonly count: number;
  /** @default `zone-a`, `zone-b`, `zone-c` */
  readonly zones?: readonly string[];
  /** @default 10,000 */
  readonly podCapacity?: number;
}

/** Returns the nodes that `options` stand for; numbered ones are `node-0`, `node-1`, … with their zone. */
export function nodesOf(options: NodeCount | readonly NodeConfig[]): readonly NodeConfig[] {
  if (!('count' in options)) return options;
  const { count, zones = ['zone-a', 'zone-b', 'zone-c'], podCapacity } = options;
  return Array.from({ length: count }, (_, index) => {
    const zone = zones[index % Math.max(1, zones.length)];
    return {
      name: `node-${index}`,
      ...(zone === undefined ? {} : { zone }),
      ...(podCapacity === undefined ? {} : { podCapacity }),
    };
  });
}
