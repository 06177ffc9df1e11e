import {
  bool,
  fields,
  int,
  intOrString,
  kept,
  list,
  listBy,
  mapOf,
  quantity,
  text,
} from './field-schema.ts';

/** Requests and limits of a container or a pod. */
export const resourceRequirements = fields({
  limits: mapOf(quantity),
  requests: mapOf(quantity),
  claims: list(fields({ name: kept(text), request: text })),
});

/** A field of the pod itself. */
export const objectFieldSelector = fields({ apiVersion: text, fieldPath: kept(text) });

/** A resource of a container. */
export const resourceFieldSelector = fields({
  containerName: text,
  resource: kept(text),
  divisor: quantity,
});

const keySelector = fields({ name: text, key: kept(text), optional: kept(bool) });

const envVar = fields({
  name: kept(text),
  value: text,
  valueFrom: fields({
    fieldRef: objectFieldSelector,
    resourceFieldRef: resourceFieldSelector,
    configMapKeyRef: keySelector,
    secretKeyRef: keySelector,
    fileKeyRef: fields({
      volumeName: kept(text),
      path: kept(text),
      key: kept(text),
      optional: kept(bool),
    }),
  }),
});

const envSource = fields({ name: text, optional: kept(bool) });

const exec = fields({ command: list(text) });

const httpGet = fields({
  path: text,
  port: intOrString,
  host: text,
  scheme: text,
  httpHeaders: list(fields({ name: kept(text), value: kept(text) })),
});

const tcpSocket = fields({ port: intOrString, host: text });

const lifecycleHandler = fields({
  exec,
  httpGet,
  tcpSocket,
  sleep: fields({ seconds: kept(int) }),
});

const probe = fields({
  exec,
  httpGet,
  tcpSocket,
  grpc: fields({ port: kept(int), service: kept(text) }),
  initialDelaySeconds: int,
  timeoutSeconds: int,
  periodSeconds: int,
  successThreshold: int,
  failureThreshold: int,
  terminationGracePeriodSeconds: kept(int),
});

/** SELinux labels. */
export const seLinuxOptions = fields({ user: text, role: text, type: text, level: text });

/** A seccomp or AppArmor profile. */
export const securityProfile = fields({ type: kept(text), localhostProfile: kept(text) });

/** Options of Windows containers. */
export const windowsOptions = fields({
  gmsaCredentialSpecName: kept(text),
  gmsaCredentialSpec: kept(text),
  runAsUserName: kept(text),
  hostProcess: kept(bool),
});

const securityContext = fields({
  capabilities: fields({ add: list(text), drop: list(text) }),
  privileged: kept(bool),
  seLinuxOptions,
  windowsOptions,
  runAsUser: kept(int),
  runAsGroup: kept(int),
  runAsNonRoot: kept(bool),
  readOnlyRootFilesystem: kept(bool),
  allowPrivilegeEscalation: kept(bool),
  procMount: kept(text),
  seccompProfile: securityProfile,
  appArmorProfile: securityProfile,
});

const containerFields = {
  name: kept(text),
  image: text,
  command: list(text),
  args: list(text),
  workingDir: text,
  ports: listBy(
    'containerPort',
    fields({
      name: text,
      hostPort: int,
      containerPort: kept(int),
      protocol: text,
      hostIP: text,
    }),
  ),
  envFrom: list(fields({ prefix: text, configMapRef: envSource, secretRef: envSource })),
  env: listBy('name', envVar),
  resources: resourceRequirements,
  resizePolicy: list(fields({ resourceName: kept(text), restartPolicy: kept(text) })),
  restartPolicy: kept(text),
  restartPolicyRules: list(
    fields({
      action: kept(text),
      exitCodes: fields({ operator: kept(text), values: list(kept(int)) }),
    }),
  ),
  volumeMounts: listBy(
    'mountPath',
    fields({
      name: kept(text),
      readOnly: bool,
      recursiveReadOnly: kept(text),
      mountPath: kept(text),
      subPath: text,
      mountPropagation: kept(text),
      subPathExpr: text,
    }),
  ),
  volumeDevices: listBy('devicePath', fields({ name: kept(text), devicePath: kept(text) })),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: fields({
    postStart: lifecycleHandler,
    preStop: lifecycleHandler,
    stopSignal: kept(text),
  }),
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext,
  stdin: bool,
  stdinOnce: bool,
  tty: bool,
};

/** A container or init container. */
export const container = fields(containerFields);

/** An ephemeral container. */
export const ephemeralContainer = fields({ ...containerFields, targetContainerName: text });
