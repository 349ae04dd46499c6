# SPDX-License-Identifier: Apache-2.0
"""The cluster's API server, for scripts: its objects, and how they change."""

import json
import ssl
import urllib.request

ADDRESS = "https://127.0.0.1:6443"
# The server makes its own certificate, and is alone in its network.
CONTEXT = ssl._create_unverified_context()  # pylint: disable=protected-access


def open_path(path, timeout):
    request = urllib.request.Request(ADDRESS + path, headers={"Authorization": "Bearer admin"})
    return urllib.request.urlopen(request, context=CONTEXT, timeout=timeout)


def get(path):
    with open_path(path, 10) as reply:
        return json.load(reply)


def key_of(item):
    return item["metadata"]["namespace"], item["metadata"]["name"]


def states(path, timeout):
    """Yield all objects of a list as {(namespace, name): object}: as they are, then after each change."""
    listed = get(path)
    objects = {key_of(item): item for item in listed["items"]}
    yield objects
    version = listed["metadata"]["resourceVersion"]
    with open_path(f"{path}?watch=1&resourceVersion={version}", timeout) as changes:
        for line in changes:
            change = json.loads(line)
            if change["type"] == "ERROR":
                return
            if change["type"] == "DELETED":
                objects.pop(key_of(change["object"]), None)
            else:
                objects[key_of(change["object"])] = change["object"]
            yield objects
