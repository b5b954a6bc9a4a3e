"""Runs the view of docs/operations/adoption.md#legacy without Django: argv[1] is its code, standard input the request."""

import hashlib, json, sys, types


class Response:
    def __init__(self, content=None, status=200):
        self.content, self.status = content, status


class People(list):
    def filter(self, username, is_active):
        return People(one for one in self if one.username == username and one.is_active is is_active)

    def first(self):
        return self[0] if self else None


def person(username, password, is_active=True):
    stored = hashlib.md5(password.encode()).hexdigest()
    return types.SimpleNamespace(username=username, password=stored, is_active=is_active)


User = types.SimpleNamespace(objects=People([person("ada", "Old-1"), person("gone", "Old-1", False)]))
parts = {
    "django.contrib.auth.hashers": {"check_password": lambda given, kept: hashlib.md5(given.encode()).hexdigest() == kept},
    "django.contrib.auth.models": {"User": User},
    "django.http": {"HttpResponse": Response, "JsonResponse": Response},
    "django.views.decorators.csrf": {"csrf_exempt": lambda view: view},
}
for name, members in parts.items():
    steps = name.split(".")
    for n in range(1, len(steps) + 1):
        sys.modules.setdefault(".".join(steps[:n]), types.ModuleType(steps[n - 1]))
    sys.modules[name].__dict__.update(members)

code = {}
exec(open(sys.argv[1]).read(), code)
asked = []
for one in json.load(sys.stdin):
    request = types.SimpleNamespace(headers=one["headers"], body=one["body"].encode())
    answer = code["verify"](request)
    asked.append([answer.status, answer.content])
print(json.dumps(asked))
