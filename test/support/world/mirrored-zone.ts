/** A world whose only zone mirrors a ReplicaTemplate. */
import { seconds } from '#base/units.ts';
import {
  createReplicaTemplate,
  installReplicaTemplates,
  mirrorAnnotations,
} from '../objects/scaling.ts';
import { World } from './world.ts';
import { NAMESPACE } from './world-group.ts';

/** Where the template is. */
export const mirroredTemplate = { namespace: NAMESPACE, name: 'ingester' };

/** Returns one set of three pods that mirrors {@link mirroredTemplate}, and an operator that acts on changes alone. */
export async function mirroredZone(): Promise<World> {
  const world = await World.create({ zones: ['a'], flags: ['-reconcile.interval=0'] });
  await world.run(installReplicaTemplates(world.admin));
  await world.clock.advance(seconds(5));
  await world.run(createReplicaTemplate(world.admin, mirroredTemplate, 3));
  await world.patchSet('a', {
    metadata: { annotations: mirrorAnnotations(mirroredTemplate.name) },
  });
  await world.readyOperator();
  return world;
}
