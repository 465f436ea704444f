import { expect, test } from "bun:test";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { defaultStorageClass } from "./default-storage-class.ts";
import { persistentVolumeClaimResize } from "./persistent-volume-claim-resize.ts";
import { storageObjectInUseProtection } from "./storage-object-in-use-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";
import { attributes, objects, verdict } from "./testing.ts";

const classOf = (name: string, creationTimestamp: string, annotation: string, value = "true") => ({
  metadata: { name, creationTimestamp, annotations: { [annotation]: value } },
});

const storage = "storageclass.kubernetes.io/is-default-class";
const beta = "storageclass.beta.kubernetes.io/is-default-class";
test.each([
  [[classOf("a", "2020", storage), classOf("b", "2021", storage)], {}, "b"],
  [[classOf("b", "2020", storage), classOf("a", "2020", beta)], {}, "a"],
  [[classOf("a", "2020", storage, "false")], {}, undefined],
  [[classOf("a", "2020", storage)], { storageClassName: "" }, ""],
  [[classOf("a", "2020", storage)], { storageClassName: "own" }, "own"],
])("of the storage classes %j a claim %j gets %p", async (storageclasses, spec, expected) => {
  const object = { metadata: { name: "c" }, spec };
  const plugin = defaultStorageClass({ lookup: objects({ "storage.k8s.io/storageclasses": storageclasses }) });
  await verdict(plugin, attributes("/persistentvolumeclaims", { object }));
  expect((object.spec as any).storageClassName).toBe(expected);
});

const ingress = "ingressclass.kubernetes.io/is-default-class";
test.each([
  [[classOf("a", "2020", ingress), classOf("b", "2021", ingress)], {}, {}, "b"],
  [[classOf("a", "2020", ingress)], {}, { "kubernetes.io/ingress.class": "x" }, undefined],
  [[classOf("a", "2020", ingress)], { ingressClassName: "own" }, {}, "own"],
  [[], {}, {}, undefined],
])(
  "of the ingress classes %j an ingress %j annotated %j gets %p",
  async (ingressclasses, spec, annotations, expected) => {
    const object = { metadata: { name: "i", annotations }, spec };
    const plugin = defaultIngressClass({ lookup: objects({ "networking.k8s.io/ingressclasses": ingressclasses }) });
    await verdict(plugin, attributes("networking.k8s.io/ingresses", { object }));
    expect((object.spec as any).ingressClassName).toBe(expected);
  },
);

test.each([
  ["/persistentvolumeclaims", "kubernetes.io/pvc-protection"],
  ["/persistentvolumes", "kubernetes.io/pv-protection"],
  ["storage.k8s.io/volumeattributesclasses", "kubernetes.io/vac-protection"],
] as const)("new %s get the finalizer %s once", async (resource, finalizer) => {
  const object = { metadata: { name: "x", finalizers: ["mine/x"] } };
  const request = attributes(resource, { object });
  await verdict(storageObjectInUseProtection(), request);
  await verdict(storageObjectInUseProtection(), request);
  expect(object.metadata.finalizers).toEqual(["mine/x", finalizer]);
});

test("a new node gets the not-ready taint once", async () => {
  const object: any = { metadata: { name: "n" } };
  const request = attributes("/nodes", { object, namespace: "" });
  await verdict(taintNodesByCondition(), request);
  await verdict(taintNodesByCondition(), request);
  expect(object.spec.taints).toEqual([{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]);
});

const claim = (size: string, storageClassName: string, phase = "Bound") => ({
  metadata: { name: "c" },
  spec: { storageClassName, resources: { requests: { storage: size } } },
  status: { phase },
});
test.each([
  [claim("1Gi", "grows"), claim("2Gi", "grows"), undefined],
  [claim("1Gi", "fixed"), claim("1Gi", "fixed"), undefined],
  [claim("1Gi", "fixed"), claim("512Mi", "fixed"), undefined],
  [
    claim("1Gi", "fixed"),
    claim("2Gi", "fixed"),
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
  ],
  [claim("1Gi", "grows", "Pending"), claim("2Gi", "grows"), "Only bound persistent volume claims can be expanded"],
])("a claim %j that becomes %j says %p", async (oldObject, object, problem) => {
  const storageclasses = [{ metadata: { name: "grows" }, allowVolumeExpansion: true }, { metadata: { name: "fixed" } }];
  const plugin = persistentVolumeClaimResize({ lookup: objects({ "storage.k8s.io/storageclasses": storageclasses }) });
  const request = attributes("/persistentvolumeclaims", { operation: "UPDATE", object, oldObject });
  const expected = problem === undefined ? undefined : `persistentvolumeclaims "c" is forbidden: ${problem}`;
  expect(await verdict(plugin, request)).toBe(expected as never);
});
