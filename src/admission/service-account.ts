import type { JsonObject } from "../api/json.ts";
import { type StatusError, status } from "../api/status.ts";
import type { Container, EphemeralContainer, Pod, PodSpec, ServiceAccount, Volume } from "../api/types/core-v1.ts";
import { unaskableName } from "../api/validation/names.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { generatedName, type RandomInt } from "../registry/random-name.ts";
import { isResource, refuse } from "./attributes.ts";
import { containersOf, isMirrorPod, podSpecOf } from "./pod.ts";

export const defaultServiceAccount = "default";
/** ConfigMap in every namespace with the authority of the server for pods. */
export const rootCaConfigMap = "kube-root-ca.crt";

const tokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const tokenVolumePrefix = "kube-api-access-";
/** Lifetime of default tokens: slightly more than an hour, by which the issuer recognises them. */
const tokenExpirationSeconds = 3_607;
/** Longest wait for the account of a namespace that was just created. */
const defaultAccountWaitMsMax = 1_500;
const defaultAccountCheckMs = 20;
const mountableSecretsAnnotation = "kubernetes.io/enforce-mountable-secrets";

export interface ServiceAccountParts {
  readonly lookup: ObjectLookup;
  readonly randomInt: RandomInt;
  readonly wait: (delayMs: number) => Promise<void>;
}

/** Gives pods an existing account and mounts its token at the known path. */
export function serviceAccount(parts: ServiceAccountParts): AdmissionPlugin {
  return {
    name: "ServiceAccount",
    admit: (attributes) => (isPodCreation(attributes) ? giveAccount(attributes, parts) : undefined),
    validate(attributes) {
      if (isPodCreation(attributes)) return checkAccount(attributes, parts);
      return isEphemeralUpdate(attributes) ? checkEphemeral(attributes, parts) : undefined;
    },
  };
}

async function giveAccount(attributes: AdmissionAttributes, parts: ServiceAccountParts): Promise<void> {
  const pod = attributes.object as Pod;
  const { spec } = pod;
  // The node agent would delete a mirror pod that differs from its file.
  if (spec === undefined || isMirrorPod(pod)) return;
  const name = spec.serviceAccountName || defaultServiceAccount;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
  const account = await findAccount(attributes, name, parts);
  if (mountsToken(account, spec)) mountToken(spec, parts.randomInt);
  if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0) {
    spec.imagePullSecrets = (account.imagePullSecrets ?? []).map(({ name: secret = "" }) => ({ name: secret }));
  }
}

async function checkAccount(attributes: AdmissionAttributes, parts: ServiceAccountParts): Promise<void> {
  const pod = attributes.object as Pod;
  const spec = podSpecOf(pod);
  if (isMirrorPod(pod)) {
    const problem = mirrorPodProblem(spec);
    if (problem !== undefined) throw refuse(attributes, problem);
    return;
  }
  const account = await findPodAccount(attributes, parts);
  if (!limitsSecrets(account)) return;
  const problem = secretProblem(spec, account);
  if (problem !== undefined) throw refuse(attributes, problem);
}

/** Ephemeral containers are added to a pod that runs, and may use no more Secrets than the others. */
async function checkEphemeral(attributes: AdmissionAttributes, parts: ServiceAccountParts): Promise<void> {
  const account = await findPodAccount(attributes, parts);
  if (!limitsSecrets(account)) return;
  const { ephemeralContainers = [] } = podSpecOf(attributes.object as Pod);
  const problem = variableProblem(secretVariables("ephemeral container", ephemeralContainers), account);
  if (problem !== undefined) throw status.unconverted(problem);
}

function isEphemeralUpdate(attributes: AdmissionAttributes): boolean {
  const { operation, subresource } = attributes;
  return operation === "UPDATE" && subresource === "ephemeralcontainers" && isResource(attributes, "", "pods");
}

/** @throws StatusError 403 */
function findPodAccount(attributes: AdmissionAttributes, parts: ServiceAccountParts): Promise<ServiceAccount> {
  const pod = attributes.object as Pod;
  const name = podSpecOf(pod).serviceAccountName ?? "";
  if (name !== "") return findAccount(attributes, name, parts);
  throw refuse(attributes, `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ""}`);
}

function limitsSecrets({ metadata }: ServiceAccount): boolean {
  return metadata.annotations?.[mountableSecretsAnnotation] === "true";
}

function isPodCreation(attributes: AdmissionAttributes): boolean {
  return attributes.operation === "CREATE" && attributes.subresource === "" && isResource(attributes, "", "pods");
}

/** Returns the account. @throws StatusError 403 */
async function findAccount(
  attributes: AdmissionAttributes,
  name: string,
  { lookup, wait }: ServiceAccountParts,
): Promise<ServiceAccount> {
  const { namespace } = attributes;
  const waitMsMax = name === defaultServiceAccount ? defaultAccountWaitMsMax : 0;
  for (let waitedMs = 0; ; waitedMs += defaultAccountCheckMs) {
    const account = lookup.get({ group: "", resource: "serviceaccounts" }, namespace, name);
    if (account !== undefined) return account as ServiceAccount;
    if (waitedMs >= waitMsMax) throw missingAccount(attributes, name);
    await wait(defaultAccountCheckMs);
  }
}

function missingAccount(attributes: AdmissionAttributes, name: string): StatusError {
  const { message } = status.notFound({ group: "", resource: "serviceaccounts", name });
  const found = unaskableName(name) ?? message.replace("serviceaccounts", "serviceaccount");
  return refuse(attributes, `error looking up service account ${attributes.namespace}/${name}: ${found}`);
}

/** Reports whether the token is mounted. The pod's setting overrides the account's. */
function mountsToken(account: ServiceAccount, spec: PodSpec): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

function mountToken(spec: PodSpec, randomInt: RandomInt): void {
  const volumes = spec.volumes ?? [];
  const existing = volumes.find(({ name }) => name.startsWith(tokenVolumePrefix));
  const name = existing?.name ?? generatedName(tokenVolumePrefix, randomInt);
  let isMounted = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some(({ mountPath }) => mountPath === tokenMountPath)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: tokenMountPath }];
    isMounted = true;
  }
  if (existing === undefined && isMounted) spec.volumes = [...volumes, tokenVolume(name)];
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenExpirationSeconds, path: "token" } },
        { configMap: { name: rootCaConfigMap, items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

/** Returns the problem with a mirror pod, which must not use objects that only the API may provide. */
function mirrorPodProblem(spec: PodSpec): string | undefined {
  if ((spec.serviceAccountName ?? "") !== "") return "a mirror pod may not reference service accounts";
  if (
    secretVolumes(spec).length > 0 ||
    secretVariables("", containersOf(spec)).length > 0 ||
    (spec.imagePullSecrets ?? []).length > 0
  ) {
    return "a mirror pod may not reference secrets";
  }
  const projects = (spec.volumes ?? []).some((volume) =>
    projectedSources(volume).some((source) => source["serviceAccountToken"] !== undefined),
  );
  return projects ? "a mirror pod may not use ServiceAccountToken volume projections" : undefined;
}

function secretProblem(spec: PodSpec, account: ServiceAccount): string | undefined {
  const mountable = mountableSecrets(account);
  const volume = secretVolumes(spec).find((secret) => !mountable.has(secret));
  if (volume !== undefined) return `volume with secret.secretName=${JSON.stringify(volume)} ${unreferenced(account)}`;
  const variables = [
    ...secretVariables("init container", spec.initContainers ?? []),
    ...secretVariables("container", spec.containers ?? []),
  ];
  const problem = variableProblem(variables, account);
  if (problem !== undefined) return problem;
  const pullable = new Set((account.imagePullSecrets ?? []).map(({ name = "" }) => name));
  const at = (spec.imagePullSecrets ?? []).findIndex(({ name = "" }) => !pullable.has(name));
  if (at < 0) return undefined;
  const name = spec.imagePullSecrets?.[at]?.name ?? "";
  return `imagePullSecrets[${at}].name="${name}" ${unreferenced(account, "imagePullSecret")}`;
}

function mountableSecrets({ secrets = [] }: ServiceAccount): ReadonlySet<string> {
  return new Set(secrets.map(({ name = "" }) => name));
}

function unreferenced({ metadata }: ServiceAccount, what = "secret"): string {
  return `is not allowed because service account ${metadata.name ?? ""} does not reference that ${what}`;
}

function variableProblem(variables: readonly SecretVariable[], account: ServiceAccount): string | undefined {
  const mountable = mountableSecrets(account);
  const variable = variables.find(({ secret }) => !mountable.has(secret));
  if (variable === undefined) return undefined;
  return `${variable.text} referencing secret.secretName="${variable.secret}" ${unreferenced(account)}`;
}

function secretVolumes({ volumes = [] }: PodSpec): string[] {
  const named = volumes.map(({ secret }) => (secret as { secretName?: string } | undefined)?.secretName ?? "");
  return named.filter((name) => name !== "");
}

function projectedSources({ projected }: Volume): readonly JsonObject[] {
  return (projected as { sources?: JsonObject[] } | undefined)?.sources ?? [];
}

interface SecretVariable {
  readonly text: string;
  readonly secret: string;
}

function secretVariables(kind: string, containers: readonly (Container | EphemeralContainer)[]): SecretVariable[] {
  return containers.flatMap(({ name, env = [], envFrom = [] }) =>
    [
      ...env.map((variable) => ({
        text: `${kind} ${name} with envVar ${variable.name}`,
        secret: variable.valueFrom?.secretKeyRef?.name ?? "",
      })),
      ...envFrom.map(({ secretRef }) => ({ text: `${kind} ${name} with envFrom`, secret: secretRef?.name ?? "" })),
    ].filter(({ secret }) => secret !== ""),
  );
}
