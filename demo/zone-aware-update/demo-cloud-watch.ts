import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** An alarm of the demo, and the CloudWatch that knows it. */
export interface DemoCloudWatch {
  readonly url: string;
  /** Puts the alarm into `state`, with why. */
  turn(state: 'OK' | 'ALARM', reason: string): void;
  close(): Promise<void>;
}

const jsonType = 'application/x-amz-json-1.0';
const operation = 'GraniteServiceVersion20100801.DescribeAlarms';

/**
 * Returns stands in for CloudWatch on 127.0.0.1, as the SDK speaks to it: AWS JSON 1.0, and one composite alarm, `name`.
 * Signatures are not looked at, as nothing else knows the port.
 */
export async function startDemoCloudWatch(name: string): Promise<DemoCloudWatch> {
  let alarm = { AlarmName: name, StateValue: 'OK', StateReason: '' };
  const server = createServer((request, response) => {
    answer(request, response, () => alarm);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: urlOf(server),
    turn: (state, reason) => {
      alarm = { AlarmName: name, StateValue: state, StateReason: reason };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Answers a question once it is read to its end, so that the connection can be used again. */
function answer(
  request: IncomingMessage,
  response: ServerResponse,
  alarmNow: () => { readonly AlarmName: string },
): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const isKnown = request.headers['x-amz-target'] === operation;
    const alarm = alarmNow();
    const isAsked = body.includes(JSON.stringify(alarm.AlarmName));
    const answered = { CompositeAlarms: isAsked ? [alarm] : [], MetricAlarms: [] };
    const refused = { __type: 'com.amazon.coral.service#UnknownOperationException', message: '' };
    response.writeHead(isKnown ? 200 : 404, { 'content-type': jsonType });
    response.end(JSON.stringify(isKnown ? answered : refused));
  });
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It listens at no port');
  return `http://127.0.0.1:${address.port}`;
}
