import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";

/** The fields of a pod that admission reads and writes. */
export interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: { phase?: string };
}
export type PodSpec = {
  nodeName?: string;
  volumes?: Volume[];
  initContainers?: Container[];
  containers?: Container[];
  ephemeralContainers?: Container[];
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name?: string }[];
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  tolerations?: Toleration[];
  runtimeClassName?: string;
  overhead?: ResourceList;
  nodeSelector?: Record<string, string>;
  affinity?: JsonObject;
  activeDeadlineSeconds?: number;
  resources?: ResourceRequirements;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  os?: { name?: string };
  securityContext?: PodSecurityContext;
};
export type Volume = { name: string; [source: string]: JsonObject | string };
export type ResourceList = Record<string, string>;
export type ResourceRequirements = { requests?: ResourceList; limits?: ResourceList };
export type Container = {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  restartPolicy?: string;
  env?: { name: string; valueFrom?: { secretKeyRef?: { name?: string } } }[];
  envFrom?: { secretRef?: { name?: string } }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  ports?: { hostPort?: number }[];
  resources?: ResourceRequirements;
  securityContext?: SecurityContext;
  livenessProbe?: Handler;
  readinessProbe?: Handler;
  startupProbe?: Handler;
  lifecycle?: { postStart?: Handler; preStop?: Handler };
};
export type Handler = { httpGet?: { host?: string }; tcpSocket?: { host?: string } };
export type Toleration = {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
};
type Profile = { type?: string; localhostProfile?: string };
type CommonSecurityContext = {
  seLinuxOptions?: { user?: string; role?: string; type?: string; level?: string };
  windowsOptions?: { hostProcess?: boolean };
  runAsUser?: number;
  runAsNonRoot?: boolean;
  seccompProfile?: Profile;
  appArmorProfile?: Profile;
};
export type PodSecurityContext = CommonSecurityContext & { sysctls?: { name: string; value: string }[] };
export type SecurityContext = CommonSecurityContext & {
  capabilities?: { add?: string[]; drop?: string[] };
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  procMount?: string;
};

const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Reports whether a node created the pod from its own files. */
export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}

/** Returns init containers, containers and ephemeral containers, in this order. */
export function containersOf({ initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}
