import type { ValidateOptions } from '../validate-file.ts';
import { parseOptions } from './parse-options.ts';

/** What to do, or what to print instead, and the exit code. */
export type ParsedValidate =
  | { readonly kind: 'validate'; readonly options: ValidateOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** What `--help` prints. */
export const validateHelp = `Usage: rollout-operator bedrock validate -f bedrock.yaml [options]

Checks a bedrock.yaml, and what its stages would be made into. Nothing is written, nothing is sent to any cluster.

  -f, --file FILE   the bedrock.yaml; - for standard input
  --service NAME    the stages of one service alone
  --lenient         unknown keys are warnings, not errors
  --strict          warnings are errors

Exit codes: 0 in order, 1 the file cannot be read, 2 it is wrong, 3 the kind of --service is not supported.
`;

const table = {
  file: 'value',
  service: 'value',
  lenient: 'flag',
  strict: 'flag',
  help: 'flag',
} as const;

/** Reads the arguments after `bedrock validate`. */
export function parseValidateOptions(args: readonly string[]): ParsedValidate {
  const parsed = parseOptions(args, table);
  if (parsed.kind === 'invalid') return parsed;
  const { options } = parsed;
  if (options.has('help')) return { kind: 'help' };
  const file = options.get('file');
  if (file === undefined) return { kind: 'invalid', sentence: '--file is needed' };
  if (options.has('lenient') && options.has('strict'))
    return { kind: 'invalid', sentence: '--lenient and --strict exclude each other' };
  return {
    kind: 'validate',
    options: {
      file,
      service: options.get('service'),
      isLenient: options.has('lenient'),
      isStrict: options.has('strict'),
    },
  };
}
