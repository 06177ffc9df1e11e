/** The programs of a real control plane: their files, flags and addresses. */
import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { ACCOUNTS_NAMESPACE, INSTALLED_NAMESPACES } from './operator-account.ts';
import type { ProgramOptions } from './programs.ts';

const controllers = [
  'statefulset-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'pod-garbage-collector-controller',
];

const operatorGroups = [ACCOUNTS_NAMESPACE, ...INSTALLED_NAMESPACES].map(
  (namespace) => `system:serviceaccounts:${namespace}`,
);

/** Who removed or wrote what, with which preconditions; of the operator also what it read (E2E-2). */
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['ResponseStarted'],
  omitManagedFields: true,
  rules: [
    { level: 'None', nonResourceURLs: ['/*'] },
    {
      level: 'RequestResponse',
      userGroups: operatorGroups,
      verbs: ['delete', 'deletecollection', 'patch', 'update', 'create'],
    },
    { level: 'Metadata', userGroups: operatorGroups },
    {
      level: 'RequestResponse',
      verbs: ['delete', 'deletecollection'],
      resources: [{ group: '', resources: ['pods'] }],
    },
    {
      level: 'Metadata',
      verbs: ['create', 'patch', 'update'],
      resources: [
        { group: '', resources: ['pods/eviction'] },
        { group: 'apps', resources: ['statefulsets', 'statefulsets/scale'] },
      ],
    },
    { level: 'None' },
  ],
};

/** What a {@link PlaneLayout} is made from. */
export interface PlaneLayoutOptions {
  readonly binaries: Binaries;
  /** Where the files of all programs are. */
  readonly folder: string;
  /** As the flag `--feature-gates`. */
  readonly featureGates: string;
}

/** Where the programs of a control plane are reached, and how each is started. */
export class PlaneLayout {
  readonly server: URL;
  readonly etcd: URL;
  readonly peer: URL;
  readonly auditPath: string;
  readonly #parts: PlaneLayoutOptions;

  constructor(parts: PlaneLayoutOptions, ports: readonly number[]) {
    const [apiPort = 0, etcdPort = 0, peerPort = 0] = ports;
    this.#parts = parts;
    this.server = new URL(`https://127.0.0.1:${apiPort}`);
    this.etcd = new URL(`http://127.0.0.1:${etcdPort}`);
    this.peer = new URL(`http://127.0.0.1:${peerPort}`);
    this.auditPath = this.path('audit.jsonl');
  }

  /** Of a file in the folder. */
  path(name: string): string {
    return join(this.#parts.folder, name);
  }

  /** Writes the files that the programs read. */
  async writeFiles(tokens: { readonly admin: string; readonly manager: string }): Promise<void> {
    await chmod(this.#parts.folder, 0o700);
    await mkdir(this.path('certificates'));
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const lines = [
      `${tokens.admin},admin,admin,"system:masters"`,
      `${tokens.manager},system:kube-controller-manager,manager`,
    ];
    await writeFile(this.path('service-account.key'), privateKey, { mode: 0o600 });
    await writeFile(this.path('service-account.pub'), publicKey);
    await writeFile(this.path('tokens.csv'), `${lines.join('\n')}\n`, { mode: 0o600 });
    await writeFile(this.path('audit-policy.json'), JSON.stringify(auditPolicy));
  }

  /** How etcd is started. */
  etcdProgram(): ProgramOptions {
    return {
      name: 'etcd',
      path: this.#parts.binaries.etcd,
      args: [
        '--name=real',
        `--data-dir=${this.path('etcd-data')}`,
        `--listen-client-urls=${this.etcd.origin}`,
        `--advertise-client-urls=${this.etcd.origin}`,
        `--listen-peer-urls=${this.peer.origin}`,
        `--initial-advertise-peer-urls=${this.peer.origin}`,
        `--initial-cluster=real=${this.peer.origin}`,
        '--unsafe-no-fsync',
        // As kubeadm sets it: else watches of types that nobody changes get no bookmarks.
        '--watch-progress-notify-interval=5s',
        '--log-level=warn',
      ],
    };
  }

  /** How kube-apiserver is started. */
  apiServerProgram(): ProgramOptions {
    return {
      name: 'kube-apiserver',
      path: this.#parts.binaries.apiServer,
      args: [
        `--etcd-servers=${this.etcd.origin}`,
        // The recorder reads what is stored; nothing is forgotten.
        '--storage-media-type=application/json',
        '--etcd-compaction-interval=0',
        '--bind-address=127.0.0.1',
        `--secure-port=${this.server.port}`,
        `--cert-dir=${this.path('certificates')}`,
        '--endpoint-reconciler-type=none',
        '--authorization-mode=RBAC',
        `--token-auth-file=${this.path('tokens.csv')}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${this.path('service-account.pub')}`,
        `--service-account-signing-key-file=${this.path('service-account.key')}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        `--audit-policy-file=${this.path('audit-policy.json')}`,
        `--audit-log-path=${this.auditPath}`,
        '--profiling=false',
        `--feature-gates=${this.#parts.featureGates}`,
      ],
    };
  }

  /** How kube-controller-manager is started. @param kubeconfig its path */
  managerProgram(kubeconfig: string): ProgramOptions {
    return {
      name: 'kube-controller-manager',
      path: this.#parts.binaries.controllerManager,
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--authentication-kubeconfig=${kubeconfig}`,
        `--authorization-kubeconfig=${kubeconfig}`,
        `--controllers=${controllers.join(',')}`,
        `--service-account-private-key-file=${this.path('service-account.key')}`,
        '--use-service-account-credentials',
        '--leader-elect=false',
        '--secure-port=0',
        // What is tried is the operator; the controllers' own limits would only make that slow.
        '--kube-api-qps=500',
        '--kube-api-burst=1000',
        '--concurrent-statefulset-syncs=10',
        `--feature-gates=${this.#parts.featureGates}`,
      ],
    };
  }
}
