import { isIP } from 'node:net';

/** Why this program calls no such address for a resource. */
export type RefusedAddress =
  | 'loopback'
  | 'link-local'
  | 'multicast'
  | 'broadcast'
  | 'unspecified'
  /** Where a cloud answers its machines, outside the link-local range. */
  | 'metadata'
  /** No IP address. */
  | 'unreadable';

/** What is made an exception of. */
export interface AddressRules {
  /** Lets 127.0.0.0/8 and ::1 be called, for tests (E-23). @default false */
  readonly permitsLoopback?: boolean;
}

/** All addresses that begin with the first `bits` bits of `bytes`. */
interface Network {
  readonly bytes: readonly number[];
  readonly bits: number;
}

interface Range extends Network {
  readonly kind: Exclude<RefusedAddress, 'unreadable'>;
}

const refusedOf4: readonly Range[] = [
  { kind: 'unspecified', bytes: [0], bits: 8 },
  { kind: 'loopback', bytes: [127], bits: 8 },
  { kind: 'link-local', bytes: [169, 254], bits: 16 },
  { kind: 'multicast', bytes: [224], bits: 4 },
  { kind: 'broadcast', bytes: [255, 255, 255, 255], bits: 32 },
  // Of Alibaba Cloud, and of Azure.
  { kind: 'metadata', bytes: [100, 100, 100, 200], bits: 32 },
  { kind: 'metadata', bytes: [168, 63, 129, 16], bits: 32 },
];

const refusedOf6: readonly Range[] = [
  { kind: 'unspecified', bytes: groups(0, 0, 0, 0, 0, 0, 0, 0), bits: 128 },
  { kind: 'loopback', bytes: groups(0, 0, 0, 0, 0, 0, 0, 1), bits: 128 },
  { kind: 'link-local', bytes: groups(0xfe80), bits: 10 },
  { kind: 'multicast', bytes: groups(0xff00), bits: 8 },
  // Of AWS (fd00:ec2::254 among others), and of Google Cloud.
  { kind: 'metadata', bytes: groups(0xfd00, 0x0ec2), bits: 32 },
  { kind: 'metadata', bytes: groups(0xfd20, 0x00ce), bits: 32 },
];

/** Networks of IPv6 whose addresses lead to the IPv4 address that comes right after the prefix. */
const wrapping: readonly Network[] = [
  // Mapped, ::ffff:0:0/96.
  { bytes: groups(0, 0, 0, 0, 0, 0xffff), bits: 96 },
  // Translated by the host, ::ffff:0:0:0/96 (RFC 2765).
  { bytes: groups(0, 0, 0, 0, 0xffff, 0), bits: 96 },
  // Translated on the way (NAT64), 64:ff9b::/96 (RFC 6052).
  { bytes: groups(0x0064, 0xff9b, 0, 0, 0, 0), bits: 96 },
  // The same within one network, 64:ff9b:1::/96 (RFC 8215).
  { bytes: groups(0x0064, 0xff9b, 1, 0, 0, 0), bits: 96 },
  // 6to4, 2002::/16 (RFC 3056).
  { bytes: groups(0x2002), bits: 16 },
  // Compatible, ::/96 (RFC 4291); :: and ::1 are met before.
  { bytes: groups(0, 0, 0, 0, 0, 0), bits: 96 },
];

/**
 * Returns why nothing that a resource names may be called at `address` (E-21); undefined where it may. An IPv4 address inside one of IPv6 counts as
 * itself. Private ranges may be called: servers inside the
 * cluster and the network live there.
 *
 * @param address of IPv4 or IPv6 as the system's lookup gives it, also with a zone
 */
export function refusedAddress(
  address: string,
  { permitsLoopback = false }: AddressRules = {},
): RefusedAddress | undefined {
  const bytes = bytesOf(address);
  if (bytes === undefined) return 'unreadable';
  const kind = bytes.length === 4 ? kindOf4(bytes) : kindOf6(bytes);
  return kind === 'loopback' && permitsLoopback ? undefined : kind;
}

function kindOf4(bytes: readonly number[]): RefusedAddress | undefined {
  return refusedOf4.find((range) => holds(range, bytes))?.kind;
}

function kindOf6(bytes: readonly number[]): RefusedAddress | undefined {
  const own = refusedOf6.find((range) => holds(range, bytes))?.kind;
  if (own !== undefined) return own;
  const wrapper = wrapping.find((network) => holds(network, bytes));
  if (wrapper === undefined) return undefined;
  const start = wrapper.bits / 8;
  return kindOf4(bytes.slice(start, start + 4));
}

function holds({ bytes, bits }: Network, address: readonly number[]): boolean {
  return bytes.every((byte, at) => {
    const left = Math.max(0, Math.min(8, bits - at * 8));
    const mask = 0xff & (0xff << (8 - left));
    return (byte & mask) === ((address[at] ?? 0) & mask);
  });
}

/** Returns the 4 or 16 bytes of `address`; undefined where it is not one. */
function bytesOf(address: string): readonly number[] | undefined {
  const [bare = ''] = address.split('%');
  switch (isIP(bare)) {
    case 4:
      return bare.split('.').map(Number);
    case 6:
      return bytesOf6(bare);
    default:
      return undefined;
  }
}

/** Returns the bytes of an IPv6 address, which `isIP` has accepted. */
function bytesOf6(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const first = bytesIn(head);
  if (tail === undefined) return first;
  const last = bytesIn(tail);
  return [...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last];
}

function bytesIn(part: string): readonly number[] {
  if (part === '') return [];
  return part
    .split(':')
    .flatMap((group) =>
      group.includes('.') ? group.split('.').map(Number) : groups(Number.parseInt(group, 16)),
    );
}

/** Returns the bytes of groups of 16 bits. */
function groups(...values: readonly number[]): readonly number[] {
  return values.flatMap((value) => [value >> 8, value & 0xff]);
}
