/** Placeholder. @returns never */
export async function clusterCommand(args: readonly string[]): Promise<number> {
  await Promise.resolve();
  return args.length;
}
