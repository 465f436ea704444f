"""Uses the server of KUBECONFIG through three Python clients. Prints a line per check, and fails if one fails."""

import logging
import threading
import traceback

import kr8s
import lightkube
from kr8s.objects import ConfigMap, new_class
from kubernetes import client, config, dynamic, watch
from kubernetes.informer import SharedInformer
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap as LightConfigMap

GROUP = "python.example.com"
WAIT = 20


def definition(plural, kind):
    return {
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }


def deployment(name):
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


# The official client.


def documents_of_discovery():
    assert client.VersionApi().get_code().major == "1"
    assert "apps" in [group.name for group in client.ApisApi().get_api_versions().groups]
    assert "pods" in [resource.name for resource in client.CoreV1Api().get_api_resources().resources]
    assert client.AppsV1Api().get_api_resources().group_version == "apps/v1"


def objects_are_created_changed_and_deleted():
    core = client.CoreV1Api()
    core.create_namespaced_config_map("default", {"metadata": {"name": "official", "labels": {"by": "official"}}})
    core.patch_namespaced_config_map("official", "default", {"data": {"a": "1"}})
    held = core.read_namespaced_config_map("official", "default")
    held.data["b"] = "2"
    assert core.replace_namespaced_config_map("official", "default", held).data == {"a": "1", "b": "2"}
    assert len(core.list_namespaced_config_map("default", label_selector="by=official").items) == 1
    core.delete_namespaced_config_map("official", "default")


def errors_have_a_status():
    try:
        client.CoreV1Api().read_namespaced_config_map("absent", "default")
    except client.ApiException as error:
        assert error.status == 404 and 'configmaps \\"absent\\" not found' in error.body
    else:
        raise AssertionError("an absent object was read")


def pages_follow_each_other():
    core, names, token = client.CoreV1Api(), [], None
    while True:
        page = core.list_namespace(limit=2, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == [item.metadata.name for item in core.list_namespace().items]


def a_watch_shows_each_change():
    core, seen = client.CoreV1Api(), []
    start = core.list_namespaced_config_map("default").metadata.resource_version
    core.create_namespaced_config_map("default", {"metadata": {"name": "watched"}})
    core.patch_namespaced_config_map("watched", "default", {"data": {"a": "1"}})
    core.delete_namespaced_config_map("watched", "default")
    events = watch.Watch().stream(
        core.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=WAIT
    )
    for event in events:
        if event["object"].metadata.name == "watched":
            seen.append(event["type"])
        if seen[-1:] == ["DELETED"]:
            break
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen


def an_informer_follows_objects():
    core, added, modified = client.CoreV1Api(), threading.Event(), threading.Event()
    core.create_namespaced_config_map("default", {"metadata": {"name": "informed"}})
    informer = SharedInformer(core.list_namespaced_config_map, namespace="default")
    informer.add_event_handler("ADDED", lambda seen: seen.metadata.name == "informed" and added.set())
    informer.add_event_handler("MODIFIED", lambda seen: modified.set())
    informer.start()
    assert added.wait(WAIT)
    core.patch_namespaced_config_map("informed", "default", {"data": {"a": "1"}})
    # Only a watch that is open can be stopped.
    assert modified.wait(WAIT)
    informer.stop()
    core.delete_namespaced_config_map("informed", "default")


def the_dynamic_client_uses_custom_objects():
    extensions = client.ApiextensionsV1Api()
    extensions.create_custom_resource_definition(definition("gadgets", "Gadget"))
    established = watch.Watch().stream(extensions.list_custom_resource_definition, timeout_seconds=WAIT)
    for event in established:
        conditions = event["object"].status.conditions or []
        if any(condition.type == "Established" and condition.status == "True" for condition in conditions):
            break
    api = dynamic.DynamicClient(client.ApiClient())
    gadgets = api.resources.get(api_version=f"{GROUP}/v1", kind="Gadget")
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": 1}}
    gadgets.create(body=body, namespace="default")
    body["spec"]["size"] = 2
    gadgets.server_side_apply(body=body, name="g", namespace="default", field_manager="python", force_conflicts=True)
    assert gadgets.get(name="g", namespace="default").spec.size == 2
    gadgets.delete(name="g", namespace="default")
    extensions.delete_custom_resource_definition(f"gadgets.{GROUP}")


def an_object_is_applied():
    apps = client.AppsV1Api()
    applied = apps.patch_namespaced_deployment(
        "applied",
        "default",
        deployment("applied"),
        field_manager="python",
        force=True,
        _content_type="application/apply-patch+yaml",
    )
    assert applied.metadata.managed_fields[0].operation == "Apply"
    apps.delete_namespaced_deployment("applied", "default")


# kr8s


def kr8s_uses_objects():
    assert kr8s.version()["major"] == "1"
    map = ConfigMap({"metadata": {"name": "kr8s"}, "data": {"a": "1"}})
    map.create()
    map.patch({"data": {"b": "2"}})
    map.label({"by": "kr8s"})
    map.refresh()
    assert map.data.b == "2" and map.exists()
    assert [found.name for found in kr8s.get("configmaps", label_selector="by=kr8s")] == ["kr8s"]
    map.delete()
    map.wait("delete", timeout=WAIT)


def kr8s_finds_any_resource():
    assert "deployments" in [resource["name"] for resource in kr8s.api_resources()]
    Slice = new_class("EndpointSlice", "discovery.k8s.io/v1", namespaced=True)
    assert isinstance(list(kr8s.get(Slice)), list)


def kr8s_watches():
    map = ConfigMap({"metadata": {"name": "kr8s-watched"}})
    map.create()
    for event, seen in kr8s.watch("configmaps", namespace="default"):
        if seen.name == map.name:
            assert event == "ADDED"
            break
    map.delete()


# lightkube


def lightkube_uses_objects():
    light = lightkube.Client()
    light.create(LightConfigMap(metadata=ObjectMeta(name="light", namespace="default", labels={"by": "light"})))
    light.patch(LightConfigMap, "light", {"data": {"a": "1"}})
    assert [item.data for item in light.list(LightConfigMap, labels={"by": "light"})] == [{"a": "1"}]
    for event, seen in light.watch(LightConfigMap, namespace="default"):
        if seen.metadata.name == "light":
            assert event == "ADDED"
            break
    light.delete(LightConfigMap, "light")


def lightkube_applies():
    light = lightkube.Client(field_manager="light")
    light.apply(Deployment.from_dict(deployment("light")), namespace="default")
    again = light.apply(Deployment.from_dict(deployment("light")), namespace="default")
    assert again.metadata.managedFields[0].manager == "light"
    light.delete(Deployment, "light")


def lightkube_uses_generic_resources():
    Lease = create_namespaced_resource("coordination.k8s.io", "v1", "Lease", "leases")
    light = lightkube.Client()
    light.create(Lease(metadata=ObjectMeta(name="light", namespace="default"), spec={"holderIdentity": "light"}))
    assert light.get(Lease, "light").spec["holderIdentity"] == "light"
    light.delete(Lease, "light")


def main():
    config.load_kube_config()
    logging.disable(logging.ERROR)  # the informer logs its own end as an error
    failed = 0
    checks = [check for check in globals().values() if callable(check) and check.__module__ == __name__]
    for check in checks:
        if check in (definition, deployment, main):
            continue
        try:
            check()
            print(f"passed {check.__name__}")
        except Exception:
            failed += 1
            print(f"FAILED {check.__name__}")
            traceback.print_exc()
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
