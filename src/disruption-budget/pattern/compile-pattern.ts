import { errorOf } from '#base/error-of.ts';
import { quoted } from '#base/text/quoted.ts';
import { loadRe2 } from './load-re2.ts';
import type { CompiledPattern, Pattern, PatternCompiler } from './pattern.ts';
import { patternCost } from './pattern-cost.ts';

/** Longest pattern, in UTF-16 code units: eight times the longest name of a pod. */
export const longestPattern = 2_048;
/** Most instructions. What is compiled may be asked of 10,000 pods, and each instruction of each character of a name. */
const mostInstructions = 2_000;

/** Compiles by the syntax of RE2, in which time grows no faster than length. Says what Go says, but see `docs/compatibility.md`. */
export const compilePattern: PatternCompiler = (source) => {
  if (source.length > longestPattern) return tooLarge(source);
  const { instructions, overlongRepeat, renamed } = patternCost(source);
  if (instructions > mostInstructions) {
    if (overlongRepeat === undefined) return tooLarge(source);
    return refused(`error parsing regexp: invalid repeat count: \`${overlongRepeat}\``);
  }
  const compiled = compiledBy(source);
  // Go lets two groups have one name. The engine does not, and nothing here looks at names.
  if (compiled.kind !== 'refused' || !isDuplicateName(compiled.text)) return compiled;
  const again = compiledBy(renamed);
  return again.kind !== 'refused' ? again : refused(again.text.replace(renamed, () => source));
};

type Engine = ReturnType<typeof loadRe2>;

function isDuplicateName(text: string): boolean {
  return text.startsWith('error parsing regexp: duplicate capture group name');
}

function compiledBy(source: string): CompiledPattern {
  try {
    return compiledWith(loadRe2(), source);
  } catch (error) {
    // A budget whose pattern threw would be forgotten, and its pods given away.
    return { kind: 'unknown', text: errorOf(error).message };
  }
}

function compiledWith({ RE2JS, RE2JSException }: Engine, source: string): CompiledPattern {
  try {
    const compiled = RE2JS.compile(source);
    const pattern: Pattern = {
      groupCount: compiled.groupCount(),
      groupIn(text, group) {
        const matcher = compiled.matcher(text);
        return matcher.find() ? (matcher.group(group) ?? undefined) : undefined;
      },
    };
    return { kind: 'compiled', pattern };
  } catch (error) {
    if (error instanceof RE2JSException) return refused(errorOf(error).message);
    throw error;
  }
}

function tooLarge(source: string): CompiledPattern {
  return refused(
    `error parsing regexp: expression too large: it must have at most ${longestPattern} characters and compile to at most ` +
      `${mostInstructions} instructions: got ${quoted(source)}`,
  );
}

function refused(text: string): CompiledPattern {
  return { kind: 'refused', text };
}
