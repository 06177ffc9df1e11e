import { isJsonObject } from '#base/json.ts';
import { type At, type BedrockFields, dnsLabel, member } from './bedrock-fields.ts';
import type { Container } from './bedrock-file.ts';
import { seen } from './finding.ts';

/** Fields of a container of core/v1, Kubernetes 1.36. */
const containerFields = [
  'name',
  'image',
  'args',
  'command',
  'env',
  'envFrom',
  'imagePullPolicy',
  'lifecycle',
  'livenessProbe',
  'ports',
  'readinessProbe',
  'resizePolicy',
  'resources',
  'restartPolicy',
  'restartPolicyRules',
  'securityContext',
  'startupProbe',
  'stdin',
  'stdinOnce',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'tty',
  'volumeDevices',
  'volumeMounts',
  'workingDir',
] as const;

/**
 * Returns the containers at `at`; undefined where there is nothing. an unknown field is passed on where it is only warned
 * of: Kubernetes has new ones with each release.
 *
 * @param images names of the images that the file has
 */
export function containersOf(
  at: At,
  images: ReadonlySet<string>,
  fields: BedrockFields,
): readonly Container[] | undefined {
  const items = fields.list(at);
  if (items === undefined) return undefined;
  if (items.length === 0) fields.fail(at.path, 'must have at least one container: got none');
  const containers = items.flatMap((each) => containerOf(each, images, fields) ?? []);
  const names = new Set<string>();
  for (const { name, path } of containers) {
    if (names.has(name)) fields.fail(path, `must have a name of its own: got ${seen(name)} again`);
    names.add(name);
  }
  return containers;
}

function containerOf(
  at: At,
  images: ReadonlySet<string>,
  fields: BedrockFields,
): Container | undefined {
  if (!isJsonObject(at.value)) return fields.refuse(at, 'must be a map with the key image');
  fields.onlyKeys(at, containerFields, 'it must be a field of a container of core/v1');
  const { image: _image, ...rest } = at.value;
  const imageAt = member(at, 'image');
  const image = imageAt.value;
  if (typeof image !== 'string' || !images.has(image))
    return fields.refuse(imageAt, `must be one of the images of the file${of(images)}`);
  const nameAt = member(at, 'name');
  // Without a name of its own it has that of its image, which may be none that a container can have.
  const name = fields.text(nameAt.value === undefined ? { ...nameAt, value: image } : nameAt, {
    ...dnsLabel,
    wanted: `${dnsLabel.wanted}, also where it is taken from image`,
  });
  if (name === undefined) return undefined;
  return { image, name, path: at.path, fields: { name, ...rest } };
}

function of(images: ReadonlySet<string>): string {
  if (images.size === 0) return ', which has none';
  const shown = [...images].slice(0, 10).map((each) => seen(each));
  return `: ${shown.join(', ')}${images.size > shown.length ? ', …' : ''}`;
}
