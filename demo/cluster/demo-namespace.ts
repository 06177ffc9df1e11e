/** The namespace of the examples. */
export const demoNamespace = 'demo';
