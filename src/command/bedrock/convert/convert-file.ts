import { assertNever } from '#base/assert-never.ts';
import type { JsonObject } from '#base/json.ts';
import type { DeployOptions } from '../options/convert-options.ts';
import type { BedrockFile, Stage, UnsupportedKind } from '../parse/bedrock-file.ts';
import { asErrors, type Finding, hasErrors, mistake, seen } from '../parse/finding.ts';
import { parseBedrock } from '../parse/parse-bedrock.ts';
import { convert, type Deploy, warningsOf } from './convert.ts';
import { ImageReferences } from './image-references.ts';

/** The resources of one phase. */
export interface ConvertedPhase {
  readonly percent: number;
  readonly resources: readonly [budget: JsonObject, rollout: JsonObject];
}

/** What one stage of a file comes to; or why it comes to nothing, and the exit code that says so. */
export type ConvertedFile =
  | {
      readonly kind: 'converted';
      readonly stage: Stage;
      /** Those that it is for, of the stage's own; empty where the stage names none. */
      readonly clusters: readonly string[];
      /** With percentages that rise. */
      readonly phases: readonly ConvertedPhase[];
      readonly warnings: readonly Finding[];
    }
  | Refused;

/** Nothing is made; `code` is 2 for wrong input, 3 for a kind that nothing here is made of. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: 2 | 3;
  readonly findings: readonly Finding[];
}

/**
 * Converts the stage of the file `text` that `options` name. Pure.
 *
 * @param identity used where `options` has none
 */
export function convertFile(text: string, options: DeployOptions, identity: string): ConvertedFile {
  const parsed = parseBedrock(text, options);
  if (parsed.kind === 'invalid') return refused(parsed.findings);
  const { file, lineAt } = parsed;
  const chosen = chosenStage(file, options);
  if (chosen.kind === 'refused') return chosen;
  const { stage } = chosen;
  const warnings = [...parsed.findings, ...warningsOf(stage, lineAt)];
  const { phases, findings } = phasesOf(stage, options, identity);
  const found = [
    ...wrongImages(file, options),
    ...wrongCluster(stage, options),
    ...findings,
    ...(options.isStrict ? asErrors(warnings) : warnings),
  ];
  if (hasErrors(found)) return refused(found.map((each) => located(each, lineAt)));
  const { cluster } = options;
  const clusters = cluster === undefined ? stage.clusters : [cluster];
  return { kind: 'converted', stage, clusters, phases, warnings };
}

type ChosenStage = { readonly kind: 'chosen'; readonly stage: Stage } | Refused;

function chosenStage(file: BedrockFile, options: DeployOptions): ChosenStage {
  const service = file.services.get(options.service);
  if (service === undefined)
    return refused([unlisted('--service', options.service, [...file.services.keys()])]);
  if (service.kind === 'unsupported') return unsupported(service.unsupported);
  const stage = service.stages.get(options.stage);
  if (stage === undefined)
    return refused([unlisted('--stage', options.stage, [...service.stages.keys()])]);
  return stage.unsupported === undefined
    ? { kind: 'chosen', stage }
    : unsupported(stage.unsupported);
}

/** Returns that nothing is made of a kind (H-16). */
export function unsupported({ kind, path, line }: UnsupportedKind): Refused {
  const message = `unsupported kind ${seen(kind)}: only StatefulSet is built here`;
  return { kind: 'refused', code: 3, findings: [{ severity: 'error', line, path, message }] };
}

function wrongImages(file: BedrockFile, { images }: DeployOptions): readonly Finding[] {
  const wrong = [...images.keys()].filter((name) => !file.images.has(name));
  return wrong.map((name) => unlisted('--image', name, [...file.images]));
}

function wrongCluster({ clusters }: Stage, { cluster }: DeployOptions): readonly Finding[] {
  if (cluster === undefined || clusters.includes(cluster)) return [];
  return [unlisted('--cluster', cluster, clusters)];
}

/** Returns that `given` is none of the names that the file has. */
export function unlisted(option: string, given: string, names: readonly string[]): Finding {
  const shown = names.slice(0, 10).map((name) => seen(name));
  const more = names.length > shown.length ? ', …' : '';
  const wanted =
    names.length === 0
      ? 'cannot be given, as the file names none'
      : `must be one that the file names: ${shown.join(', ')}${more}`;
  return mistake(option, `${wanted}: got ${seen(given)}`);
}

function phasesOf(
  stage: Stage,
  options: DeployOptions,
  identity: string,
): { readonly phases: readonly ConvertedPhase[]; readonly findings: readonly Finding[] } {
  const chosen = percentsOf(stage, options);
  if (chosen.kind === 'wrong') return { phases: [], findings: [chosen.finding] };
  const phases: ConvertedPhase[] = [];
  for (const percent of chosen.percents) {
    const conversion = convert(stage, deployOf(options, percent, identity));
    // What is wrong with one phase is wrong with all.
    if (conversion.kind === 'invalid') return { phases: [], findings: conversion.findings };
    phases.push({ percent, resources: conversion.resources });
  }
  return { phases, findings: [] };
}

type Percents =
  | { readonly kind: 'chosen'; readonly percents: readonly number[] }
  | { readonly kind: 'wrong'; readonly finding: Finding };

function percentsOf({ phases }: Stage, { phases: choice, isForced }: DeployOptions): Percents {
  const known = phases.join(', ');
  switch (choice.kind) {
    case 'first':
      return { kind: 'chosen', percents: phases.slice(0, 1) };
    case 'all':
      return { kind: 'chosen', percents: phases };
    case 'percent': {
      const { percent } = choice;
      if (isForced || phases.includes(percent)) return { kind: 'chosen', percents: [percent] };
      const message = `must be one of the phases ${known}, unless there is --force: got ${percent}`;
      return { kind: 'wrong', finding: mistake('--percent', message) };
    }
    case 'index': {
      const percent = phases[choice.index];
      if (percent !== undefined) return { kind: 'chosen', percents: [percent] };
      const message = `must be 0 to ${phases.length - 1}, for the phases ${known}: got ${choice.index}`;
      return { kind: 'wrong', finding: mistake('--phase-index', message) };
    }
    default:
      return assertNever(choice);
  }
}

function deployOf(options: DeployOptions, percent: number, identity: string): Deploy {
  const { images, areTagsAllowed, version, git, bapi, dc } = options;
  return {
    images: new ImageReferences(images, areTagsAllowed),
    percent,
    identity: options.identity ?? identity,
    git,
    ...(version !== undefined && { version }),
    ...(bapi !== undefined && { bapi }),
    ...(dc !== undefined && { dc }),
  };
}

/** Returns `finding` with its line, where it is about the file. */
function located(finding: Finding, lineAt: (path: string) => number | undefined): Finding {
  const isInFile = finding.line === undefined && finding.path.startsWith('services');
  return isInFile ? { ...finding, line: lineAt(finding.path) } : finding;
}

function refused(findings: readonly Finding[]): Refused {
  return { kind: 'refused', code: 2, findings };
}
