/** Verbs on one resource that a capability uses; the shipped Role is the sum of these. */
export interface Permission {
  /** Empty for the core group. */
  readonly group: string;
  /** Plural, with its subresource: `statefulsets/status`. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** The only objects that it is about. @default all */
  readonly resourceNames?: readonly string[];
  /** Whether only a ClusterRole can grant it. @default false */
  readonly isClusterScoped?: boolean;
  /** Whether the operator does without where the Role of an existing installation lacks it (D-1). */
  readonly isOptional?: boolean;
  /** What it is used for; a comment of the Role. */
  readonly because: string;
}

/** Permissions by where they can be granted. */
export interface ScopedPermissions {
  /** By a Role, in one namespace. */
  readonly own: readonly Permission[];
  /** By a ClusterRole alone. */
  readonly cluster: readonly Permission[];
}

/** Returns `permissions` by where they can be granted, each list in their order. */
export function byScope(permissions: readonly Permission[]): ScopedPermissions {
  return {
    own: permissions.filter(({ isClusterScoped = false }) => !isClusterScoped),
    cluster: permissions.filter(({ isClusterScoped = false }) => isClusterScoped),
  };
}
