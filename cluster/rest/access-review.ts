import { objectField, textField } from '../json/json-fields.ts';
import { decodeAnyBody } from './request/decode-body.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from './request/server-context.ts';

/** Answers POST of a SelfSubjectReview: who the server takes the client for (CL-13). */
export function reviewSelf(call: ApiCall): Reply {
  const { name: username, groups } = call.request.user;
  return replyWith(201, {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { creationTimestamp: null },
    status: { userInfo: { username, groups } },
  });
}

/** Answers POST of a SelfSubjectAccessReview: answered from the rules that are enforced, and stored nowhere (SR-3). */
export function reviewAccess(context: ServerContext, call: ApiCall): Reply {
  const body = decodeAnyBody(call);
  const spec = objectField(body, 'spec');
  const asked = objectField(spec, 'resourceAttributes');
  const allowed = context.authorizer.isAllowed({
    user: call.request.user,
    verb: textField(asked, 'verb'),
    group: textField(asked, 'group'),
    resource: textField(asked, 'resource'),
    subresource: textField(asked, 'subresource'),
    namespace: textField(asked, 'namespace'),
    name: textField(asked, 'name'),
  });
  return replyWith(201, {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec,
    status: allowed ? { allowed } : { allowed, reason: 'no rule of the user grants it' },
  });
}
