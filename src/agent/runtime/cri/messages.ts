import { type MessageTable, messageTypes } from "../../../api/codec/message-table.ts";

/** The fields of runtime.v1, the container runtime interface, that the agent reads or writes. Enums are int32. */
const fields = {
  // Sandboxes
  PodSandboxMetadata: { name: [1, "string"], uid: [2, "string"], namespace: [3, "string"], attempt: [4, "uint32"] },
  DNSConfig: { servers: [1, "string", "list"], searches: [2, "string", "list"], options: [3, "string", "list"] },
  PortMapping: { protocol: [1, "int32"], containerPort: [2, "int32"], hostPort: [3, "int32"], hostIp: [4, "string"] },
  Int64Value: { value: [1, "int64"] },
  UInt64Value: { value: [1, "uint64"] },
  NamespaceOption: { network: [1, "int32"], pid: [2, "int32"], ipc: [3, "int32"], targetId: [4, "string"] },
  SELinuxOption: { user: [1, "string"], role: [2, "string"], type: [3, "string"], level: [4, "string"] },
  SecurityProfile: { profileType: [1, "int32"], localhostRef: [2, "string"] },
  LinuxSandboxSecurityContext: {
    namespaceOptions: [1, "NamespaceOption"],
    selinuxOptions: [2, "SELinuxOption"],
    runAsUser: [3, "Int64Value"],
    supplementalGroups: [5, "int64", "list"],
    privileged: [6, "bool"],
    runAsGroup: [8, "Int64Value"],
    seccomp: [9, "SecurityProfile"],
    supplementalGroupsPolicy: [11, "int32"],
  },
  LinuxPodSandboxConfig: {
    cgroupParent: [1, "string"],
    securityContext: [2, "LinuxSandboxSecurityContext"],
    sysctls: [3, "string", "map"],
    overhead: [4, "LinuxContainerResources"],
    resources: [5, "LinuxContainerResources"],
  },
  PodSandboxConfig: {
    metadata: [1, "PodSandboxMetadata"],
    hostname: [2, "string"],
    logDirectory: [3, "string"],
    dnsConfig: [4, "DNSConfig"],
    portMappings: [5, "PortMapping", "list"],
    labels: [6, "string", "map"],
    annotations: [7, "string", "map"],
    linux: [8, "LinuxPodSandboxConfig"],
  },
  PodIP: { ip: [1, "string"] },
  PodSandboxNetworkStatus: { ip: [1, "string"], additionalIps: [2, "PodIP", "list"] },
  PodSandboxStatus: {
    id: [1, "string"],
    metadata: [2, "PodSandboxMetadata"],
    state: [3, "int32"],
    network: [5, "PodSandboxNetworkStatus"],
  },
  PodSandbox: {
    id: [1, "string"],
    metadata: [2, "PodSandboxMetadata"],
    state: [3, "int32"],
    labels: [5, "string", "map"],
  },
  RunPodSandboxRequest: { config: [1, "PodSandboxConfig"], runtimeHandler: [2, "string"] },
  RunPodSandboxResponse: { podSandboxId: [1, "string"] },
  StopPodSandboxRequest: { podSandboxId: [1, "string"] },
  StopPodSandboxResponse: {},
  RemovePodSandboxRequest: { podSandboxId: [1, "string"] },
  RemovePodSandboxResponse: {},
  PodSandboxStatusRequest: { podSandboxId: [1, "string"] },
  PodSandboxStatusResponse: { status: [1, "PodSandboxStatus"] },
  ListPodSandboxRequest: {},
  ListPodSandboxResponse: { items: [1, "PodSandbox", "list"] },

  // Containers
  KeyValue: { key: [1, "string"], value: [2, "bytes"] },
  Mount: { containerPath: [1, "string"], hostPath: [2, "string"], readonly: [3, "bool"], propagation: [5, "int32"] },
  HugepageLimit: { pageSize: [1, "string"], limit: [2, "uint64"] },
  LinuxContainerResources: {
    cpuPeriod: [1, "int64"],
    cpuQuota: [2, "int64"],
    cpuShares: [3, "int64"],
    memoryLimitInBytes: [4, "int64"],
    oomScoreAdj: [5, "int64"],
    hugepageLimits: [8, "HugepageLimit", "list"],
  },
  Capability: { addCapabilities: [1, "string", "list"], dropCapabilities: [2, "string", "list"] },
  LinuxContainerSecurityContext: {
    capabilities: [1, "Capability"],
    privileged: [2, "bool"],
    namespaceOptions: [3, "NamespaceOption"],
    selinuxOptions: [4, "SELinuxOption"],
    runAsUser: [5, "Int64Value"],
    runAsUsername: [6, "string"],
    readonlyRootfs: [7, "bool"],
    supplementalGroups: [8, "int64", "list"],
    apparmorProfile: [9, "string"],
    noNewPrivs: [11, "bool"],
    runAsGroup: [12, "Int64Value"],
    maskedPaths: [13, "string", "list"],
    readonlyPaths: [14, "string", "list"],
    seccomp: [15, "SecurityProfile"],
    apparmor: [16, "SecurityProfile"],
    supplementalGroupsPolicy: [17, "int32"],
  },
  LinuxContainerConfig: {
    resources: [1, "LinuxContainerResources"],
    securityContext: [2, "LinuxContainerSecurityContext"],
  },
  ContainerMetadata: { name: [1, "string"], attempt: [2, "uint32"] },
  ContainerConfig: {
    metadata: [1, "ContainerMetadata"],
    image: [2, "ImageSpec"],
    command: [3, "string", "list"],
    args: [4, "string", "list"],
    workingDir: [5, "string"],
    envs: [6, "KeyValue", "list"],
    mounts: [7, "Mount", "list"],
    labels: [9, "string", "map"],
    annotations: [10, "string", "map"],
    logPath: [11, "string"],
    stdin: [12, "bool"],
    stdinOnce: [13, "bool"],
    tty: [14, "bool"],
    linux: [15, "LinuxContainerConfig"],
    stopSignal: [18, "int32"],
  },
  CreateContainerRequest: {
    podSandboxId: [1, "string"],
    config: [2, "ContainerConfig"],
    sandboxConfig: [3, "PodSandboxConfig"],
  },
  CreateContainerResponse: { containerId: [1, "string"] },
  StartContainerRequest: { containerId: [1, "string"] },
  StartContainerResponse: {},
  StopContainerRequest: { containerId: [1, "string"], timeout: [2, "int64"] },
  StopContainerResponse: {},
  RemoveContainerRequest: { containerId: [1, "string"] },
  RemoveContainerResponse: {},
  Container: {
    id: [1, "string"],
    podSandboxId: [2, "string"],
    metadata: [3, "ContainerMetadata"],
    image: [4, "ImageSpec"],
    imageRef: [5, "string"],
    state: [6, "int32"],
    createdAt: [7, "int64"],
    labels: [8, "string", "map"],
    imageId: [10, "string"],
  },
  ListContainersRequest: {},
  ListContainersResponse: { containers: [1, "Container", "list"] },
  ContainerStatus: {
    id: [1, "string"],
    metadata: [2, "ContainerMetadata"],
    state: [3, "int32"],
    createdAt: [4, "int64"],
    startedAt: [5, "int64"],
    finishedAt: [6, "int64"],
    exitCode: [7, "int32"],
    image: [8, "ImageSpec"],
    imageRef: [9, "string"],
    reason: [10, "string"],
    message: [11, "string"],
    labels: [12, "string", "map"],
    annotations: [13, "string", "map"],
    mounts: [14, "Mount", "list"],
    logPath: [15, "string"],
    imageId: [17, "string"],
    user: [18, "ContainerUser"],
  },
  LinuxContainerUser: { uid: [1, "int64"], gid: [2, "int64"], supplementalGroups: [3, "int64", "list"] },
  ContainerUser: { linux: [1, "LinuxContainerUser"] },
  ContainerStatusRequest: { containerId: [1, "string"] },
  ContainerStatusResponse: { status: [1, "ContainerStatus"] },
  UpdateContainerResourcesRequest: { containerId: [1, "string"], linux: [2, "LinuxContainerResources"] },
  UpdateContainerResourcesResponse: {},
  ReopenContainerLogRequest: { containerId: [1, "string"] },
  ReopenContainerLogResponse: {},
  CheckpointContainerRequest: { containerId: [1, "string"], location: [2, "string"], timeout: [3, "int64"] },
  CheckpointContainerResponse: {},

  // Sessions
  ExecSyncRequest: { containerId: [1, "string"], cmd: [2, "string", "list"], timeout: [3, "int64"] },
  ExecSyncResponse: { stdout: [1, "bytes"], stderr: [2, "bytes"], exitCode: [3, "int32"] },
  ExecRequest: {
    containerId: [1, "string"],
    cmd: [2, "string", "list"],
    tty: [3, "bool"],
    stdin: [4, "bool"],
    stdout: [5, "bool"],
    stderr: [6, "bool"],
  },
  ExecResponse: { url: [1, "string"] },
  AttachRequest: {
    containerId: [1, "string"],
    stdin: [2, "bool"],
    tty: [3, "bool"],
    stdout: [4, "bool"],
    stderr: [5, "bool"],
  },
  AttachResponse: { url: [1, "string"] },
  PortForwardRequest: { podSandboxId: [1, "string"], port: [2, "int32", "list"] },
  PortForwardResponse: { url: [1, "string"] },

  // Images
  ImageSpec: { image: [1, "string"], userSpecifiedImage: [18, "string"] },
  Image: {
    id: [1, "string"],
    repoTags: [2, "string", "list"],
    repoDigests: [3, "string", "list"],
    size: [4, "uint64"],
    uid: [5, "Int64Value"],
    username: [6, "string"],
    pinned: [8, "bool"],
  },
  ListImagesRequest: {},
  ListImagesResponse: { images: [1, "Image", "list"] },
  ImageStatusRequest: { image: [1, "ImageSpec"] },
  ImageStatusResponse: { image: [1, "Image"] },
  AuthConfig: { username: [1, "string"], password: [2, "string"] },
  PullImageRequest: { image: [1, "ImageSpec"], auth: [2, "AuthConfig"] },
  PullImageResponse: { imageRef: [1, "string"] },
  RemoveImageRequest: { image: [1, "ImageSpec"] },
  RemoveImageResponse: {},
  FilesystemIdentifier: { mountpoint: [1, "string"] },
  FilesystemUsage: {
    timestamp: [1, "int64"],
    fsId: [2, "FilesystemIdentifier"],
    usedBytes: [3, "UInt64Value"],
    inodesUsed: [4, "UInt64Value"],
  },
  ImageFsInfoRequest: {},
  ImageFsInfoResponse: { imageFilesystems: [1, "FilesystemUsage", "list"] },

  // The runtime itself
  VersionRequest: { version: [1, "string"] },
  VersionResponse: { runtimeName: [2, "string"], runtimeVersion: [3, "string"], runtimeApiVersion: [4, "string"] },
  RuntimeCondition: { type: [1, "string"], status: [2, "bool"], reason: [3, "string"], message: [4, "string"] },
  RuntimeStatus: { conditions: [1, "RuntimeCondition", "list"] },
  StatusRequest: {},
  RuntimeHandler: { name: [1, "string"] },
  RuntimeFeatures: { supplementalGroupsPolicy: [1, "bool"] },
  StatusResponse: {
    status: [1, "RuntimeStatus"],
    runtimeHandlers: [3, "RuntimeHandler", "list"],
    features: [4, "RuntimeFeatures"],
  },
  LinuxRuntimeConfiguration: { cgroupDriver: [1, "int32"] },
  RuntimeConfigRequest: {},
  RuntimeConfigResponse: { linux: [1, "LinuxRuntimeConfiguration"] },
  CpuUsage: { timestamp: [1, "int64"], usageCoreNanoSeconds: [2, "UInt64Value"] },
  MemoryUsage: { timestamp: [1, "int64"], workingSetBytes: [2, "UInt64Value"], usageBytes: [4, "UInt64Value"] },
  ContainerAttributes: { id: [1, "string"] },
  ContainerStats: {
    attributes: [1, "ContainerAttributes"],
    cpu: [2, "CpuUsage"],
    memory: [3, "MemoryUsage"],
    writableLayer: [4, "FilesystemUsage"],
  },
  ListContainerStatsRequest: {},
  ListContainerStatsResponse: { stats: [1, "ContainerStats", "list"] },
  GetContainerEventsRequest: {},
  GetContainerEventsResponse: {
    containerId: [1, "string"],
    containerEventType: [2, "int32"],
    podSandboxStatus: [4, "PodSandboxStatus"],
  },
} as const satisfies MessageTable;

type Fields = typeof fields;
export type MessageName = keyof Fields;

interface Scalars {
  readonly string: string;
  readonly bool: boolean;
  readonly int32: number;
  readonly uint32: number;
  /** Rounded beyond 2⁵³, as times in nanoseconds are. */
  readonly int64: number;
  readonly uint64: number;
  readonly bytes: Uint8Array;
}

type Received<Type> = Type extends keyof Scalars ? Scalars[Type] : Type extends MessageName ? Message<Type> : never;
type Sent<Type> = Type extends keyof Scalars ? Scalars[Type] : Type extends MessageName ? Draft<Type> : never;

/** A message as it arrives: scalars that were not sent have their zero values, and messages that were not are null. */
export type Message<Name extends MessageName> = {
  readonly [Key in keyof Fields[Name]]: Fields[Name][Key] extends readonly [number, infer Type, infer Shape]
    ? Shape extends "list"
      ? readonly Received<Type>[]
      : Readonly<Record<string, Received<Type>>>
    : Fields[Name][Key] extends readonly [number, infer Type]
      ? Type extends keyof Scalars
        ? Scalars[Type]
        : Received<Type> | null
      : never;
};

/** A message to be sent. */
export type Draft<Name extends MessageName> = {
  readonly [Key in keyof Fields[Name]]?:
    | (Fields[Name][Key] extends readonly [number, infer Type, infer Shape]
        ? Shape extends "list"
          ? readonly Sent<Type>[]
          : Readonly<Record<string, Sent<Type>>>
        : Fields[Name][Key] extends readonly [number, infer Type]
          ? Sent<Type>
          : never)
    | undefined;
};

const root = messageTypes(fields);

export interface MessageCodec<Name extends MessageName> {
  encode(message: Draft<Name>): Buffer;
  /** @throws Error for bytes that are not a message */
  decode(bytes: Uint8Array): Message<Name>;
}

export function messageCodec<Name extends MessageName>(name: Name): MessageCodec<Name> {
  const type = root.lookupType(name);
  return {
    encode: (message) => Buffer.from(type.encode(message).finish()),
    decode: (bytes) => type.toObject(type.decode(bytes), { defaults: true, longs: Number }) as Message<Name>,
  };
}
