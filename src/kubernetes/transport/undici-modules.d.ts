// The modules of undici that the program loads one by one: the package as a whole brings fetch, WebSockets, caches and
// mocks with it, half of what loading it costs at every start. They have no types of their own.
declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';

  export default buildConnector;
}
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';

  export default Agent;
}
