/** Returns `pattern` as a regular expression, or undefined where it is none that can be read here. */
export function compilePattern(pattern: string): RegExp | undefined {
  // Some escapes of RE2, such as `\-`, are read only without the Unicode mode.
  return compiled(pattern, 'u') ?? compiled(pattern, '');
}

function compiled(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
