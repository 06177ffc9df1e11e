/** What helm and kustomize make of deploy/, and how the API server takes it. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { ask } from '../scenarios/ask.ts';
import {
  findHelm,
  type HelmOptions,
  runTool,
  type ToolAnswer,
} from './control-plane/install-tools.ts';

const deploy = join(import.meta.dirname, '../../deploy');

/** The folder of the chart. */
export const chartFolder = join(deploy, 'chart/rollout-operator');

/** Where something is installed. */
export interface Place {
  readonly namespace: string;
  /** @default rollout-operator */
  readonly release?: string;
}

/** helm and kubectl, and a folder that goes with them. */
export class Renderer {
  readonly folder: string;
  readonly #helm: string;
  #files = 0;

  private constructor(folder: string, helm: string) {
    this.folder = folder;
    this.#helm = helm;
  }

  /** @throws {Error} one sentence, when a tool is missing */
  static async create(options: HelmOptions): Promise<Renderer> {
    const helm = await findHelm(options);
    const folder = await mkdtemp(join(tmpdir(), 'rendered-'));
    const renderer = new Renderer(folder, helm);
    await renderer.#demandKubectl();
    await cp(join(deploy, 'kustomize'), join(folder, 'kustomize'), { recursive: true });
    return renderer;
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }

  helm(args: readonly string[]): Promise<ToolAnswer> {
    return runTool(this.#helm, args, this.folder);
  }

  async #fileOf(values: object): Promise<string> {
    this.#files += 1;
    const path = join(this.folder, `values-${this.#files}.yaml`);
    await writeFile(path, stringify(values));
    return path;
  }

  /** `helm template`, CRDs included. @throws {Error} with what helm says, when it refuses */
  async chart(
    values: object,
    { namespace, release = 'rollout-operator' }: Place,
  ): Promise<readonly JsonObject[]> {
    const file = await this.#fileOf(values);
    const answer = await this.helm([
      'template',
      release,
      chartFolder,
      `--namespace=${namespace}`,
      `--values=${file}`,
      '--include-crds',
      // Without a cluster helm takes one for granted, of a version that hangs on how it was built.
      '--kube-version=1.34.0',
    ]);
    return objectsIn('helm template', answer);
  }

  /** `kubectl kustomize` of a kustomization in a folder beside a copy of deploy/kustomize. @throws {Error} with what kubectl says */
  async kustomize(kustomization: object): Promise<readonly JsonObject[]> {
    // kustomize reads nothing by an absolute path.
    const home = await mkdtemp(join(this.folder, 'mine-'));
    const content = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      ...kustomization,
    };
    await writeFile(join(home, 'kustomization.yaml'), stringify(content));
    return objectsIn('kubectl kustomize', await this.kubectl(['kustomize', home]));
  }

  kubectl(args: readonly string[]): Promise<ToolAnswer> {
    return runTool('kubectl', args, this.folder);
  }

  async #demandKubectl(): Promise<void> {
    const { code, stderr } = await this.kubectl(['version', '--client']);
    if (code !== 0)
      throw new Error(`kubectl, which builds the bases, ended with ${code}: ${stderr}`);
  }
}

function objectsIn(what: string, { code, stdout, stderr }: ToolAnswer): readonly JsonObject[] {
  if (code !== 0) throw new Error(`${what} ended with ${code}: ${stderr}`);
  return parseAllDocuments(stdout).flatMap((document) => {
    if (document.errors.length > 0)
      throw new Error(`${what} printed no YAML`, { cause: document.errors[0] });
    const object: unknown = document.toJS();
    return isJsonObject(object) ? [object] : [];
  });
}

const clusterKinds: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'MutatingWebhookConfiguration',
  'Namespace',
  'ValidatingWebhookConfiguration',
]);

/** The path of `object`; of a namespaced one in `namespace`, unless it names one. */
export function pathOf(object: JsonObject, namespace: string): string {
  const version = textAt(object, 'apiVersion');
  const kind = textAt(object, 'kind');
  const root = version.includes('/') ? `/apis/${version}` : `/api/${version}`;
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  const own = textAt(object, 'metadata', 'namespace');
  const place = clusterKinds.has(kind) ? '' : `/namespaces/${own === '' ? namespace : own}`;
  return `${root}${place}/${plural.toLowerCase()}/${textAt(object, 'metadata', 'name')}`;
}

/** Applies `objects` with strict validation. @returns what was refused, a line an object */
export async function applyStrictly(
  transport: Transport,
  objects: readonly JsonObject[],
  namespace: string,
): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const object of objects) {
    const answer = await ask(transport, {
      method: 'PATCH',
      path: `${pathOf(object, namespace)}?fieldManager=installer&fieldValidation=Strict`,
      rest: [object, { 'content-type': 'application/apply-patch+yaml' }],
    });
    if (answer.status === 200 || answer.status === 201) continue;
    const body: unknown = answer.body;
    const what = `${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`;
    refused.push(`${what}: ${answer.status} ${isJsonObject(body) ? textAt(body, 'message') : ''}`);
  }
  return refused;
}
