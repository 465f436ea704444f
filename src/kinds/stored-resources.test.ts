import { expect, test } from "bun:test";
import { storedResources } from "./stored-resources.ts";

const resourceOf = storedResources();

test.each([
  ["/registry/secrets/default/s", "", "secrets"],
  ["/registry/minions/n", "", "nodes"],
  ["/registry/services/specs/default/s", "", "services"],
  ["/registry/services/endpoints/default/s", "", "endpoints"],
  ["/registry/events/default/e", "", "events"],
  ["/registry/deployments/default/d", "apps", "deployments"],
  ["/registry/apiextensions.k8s.io/customresourcedefinitions/c", "apiextensions.k8s.io", "customresourcedefinitions"],
  ["/registry/example.com/widgets/default/w", "example.com", "widgets"],
  ["/registry/example.com/widgets/w", "example.com", "widgets"],
  ["/registry/storage.k8s.io/widgets/default/w", "storage.k8s.io", "widgets"],
])("the object at %s belongs to group %j, resource %s", (key, group, resource) => {
  expect(resourceOf(key)).toEqual({ group, resource });
});

test.each(["/registry/masterleases/10.0.0.1", "/registry/ranges/serviceips", "/registry/quorate/servers/s"])(
  "%s is not the key of an object",
  (key) => expect(resourceOf(key)).toBeUndefined(),
);
