import { type FieldError, fieldError, fieldErrorText } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { type Status, status, successStatus } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { Binding, Pod, PodSpec } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { type Action, alreadyAdmitted } from "../../registry/action.ts";
import { alreadyTracked } from "../../registry/field-ownership.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { setPodCondition } from "./pod-condition.ts";

/** Serves `pods/x/binding`, and `bindings` with the pod's name in the body. Assigns a pod to a node permanently. */
export function podBinding({ pods, clock }: { readonly pods: Registry; readonly clock: Clock }): Action {
  const strategy = bindingStrategy(pods.strategy);
  return {
    keepsSystemFields: true,
    async run(request, body: Binding): Promise<Status> {
      const name = body.metadata.name ?? "";
      if (request.subresource !== "" && name !== request.name) {
        throw status.badRequest("name in URL does not match name in Binding object");
      }
      const errors = validateTarget(body);
      if (errors.length > 0) throw status.unconverted(joined(errors));
      if (name === "") throw status.badRequest("Name parameter required.");
      const context = { ...request, version: pods.info };
      await pods.update(
        request.namespace,
        name,
        (pod) => bound(pod, body, formatTime(clock.nowMs()), context),
        context,
        {
          strategy,
          subresource: "binding",
          reapplies: true,
          admission: alreadyAdmitted,
          // Fields that a binding sets have no owner.
          tracker: alreadyTracked,
        },
      );
      return successStatus();
    },
  };
}

/** Only a binding sets the node of a pod. The rest of the pod does not change. */
function bindingStrategy(podStrategy: Strategy): Strategy {
  return {
    ...podStrategy,
    generationFields: [],
    resetFields: [],
    prepareForUpdate() {},
    validate: () => [],
    validateUpdate: () => [],
  };
}

function bound(
  pod: Pod,
  { target, metadata }: Binding,
  now: string,
  context: Pick<WriteContext, "dryRun">,
): KubeObject {
  const { name = "" } = pod.metadata;
  checkPreconditions(pod, metadata, context);
  const refusal = refusalOf(pod);
  if (refusal !== undefined) throw status.conflict({ group: "", resource: "pods/binding", name }, refusal);
  pod.spec = { ...(pod.spec as PodSpec), nodeName: target.name ?? "" };
  delete pod.status?.nominatedNodeName;
  if (metadata.annotations !== undefined) {
    pod.metadata.annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  }
  if (metadata.labels !== undefined) pod.metadata.labels = { ...pod.metadata.labels, ...metadata.labels };
  setPodCondition(pod, { type: "PodScheduled", status: "True" }, now);
  return pod;
}

function refusalOf({ metadata, spec }: Pod): string | undefined {
  const { name = "" } = metadata;
  if (metadata.deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if ((spec?.nodeName ?? "") !== "") return `pod ${name} is already assigned to node ${JSON.stringify(spec?.nodeName)}`;
  if ((spec?.schedulingGates ?? []).length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

/** A Binding may name the uid and version of the pod that its writer has seen. */
function checkPreconditions(
  { metadata }: Pod,
  { uid = "", resourceVersion = "" }: KubeObject["metadata"],
  { dryRun }: Pick<WriteContext, "dryRun">,
): void {
  const wrong =
    uid !== "" && uid !== metadata.uid
      ? `UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`
      : resourceVersion !== "" && resourceVersion !== metadata.resourceVersion
        ? `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`
        : undefined;
  if (wrong === undefined) return;
  const { namespace = "", name = "" } = metadata;
  throw status.conflict(
    { group: "", resource: "pods", name },
    `StorageError: invalid object, Code: 4, Key: ${dryRun ? "" : "/registry"}/pods/${namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${wrong}`,
  );
}

function validateTarget({ target }: Binding): FieldError[] {
  const { kind = "", name = "" } = target;
  return [
    ...(kind === "" || kind === "Node" ? [] : [fieldError.notSupported("target.kind", kind, ["Node", "<empty>"])]),
    ...(name === "" ? [fieldError.required("target.name")] : []),
  ];
}

function joined(errors: readonly FieldError[]): string {
  const texts = errors.map(fieldErrorText);
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(", ")}]`;
}
