#!/usr/bin/env bash
# The tests against a server that runs: `make test-real`. What it is given behind the first word goes to pytest.
#
#   tools/real_informix.sh url URL ..          the server at URL
#   tools/real_informix.sh release RELEASE ..  a container of IBM's developer edition, 15, 14.10 or 12.10
#   tools/real_informix.sh embedded ..         `informix-arrow serve`
#   tools/real_informix.sh prepare CONTAINER   make the spaces and syscdcv1 in a container that runs, and wait until it does
set -euo pipefail
cd "$(dirname "$0")/.."

bin=.venv/bin
port=${INFORMIX_PORT:-9088}
started=300 # seconds that a new container may take; IBM says up to three minutes

suite() { # ..
    "$bin/python" -m pytest -p no:benchmark tests/integration tests/cli tests/sqlalchemy_dialect "$@"
}

image() { # RELEASE
    case $1 in
    15 | 15.0) echo "${INFORMIX_IMAGE:-icr.io/informix/informix-developer-database}" ;;
    14.10) echo "${INFORMIX_IMAGE:-ibmcom/informix-developer-database:14.10.FC7W1DE}" ;;
    12.10) echo "${INFORMIX_IMAGE:-ibmcom/informix-developer-database:12.10.FC12W1DE}" ;;
    *) echo "RELEASE is 15, 14.10 or 12.10, not $1." >&2 && return 1 ;;
    esac
}

prepare() { # CONTAINER
    local ends=$((SECONDS + started))
    until INFORMIX_ARROW_URL="informix://informix:in4mix@127.0.0.1:$port/sysmaster?server=informix" "$bin/informix-arrow" ping >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$ends" ]; then
            echo "The server in container $1 does not answer on port $port after $started seconds:" >&2
            docker logs --tail 40 "$1" >&2
            return 1
        fi
        sleep 3
    done
    docker exec --interactive --user informix "$1" bash -s <tests/real/prepare.sh
}

command=${1:?url, release, embedded or prepare}
shift
case $command in
url)
    url=$1
    shift
    suite --informix "$url" tests/interop "$@"
    ;;
prepare)
    prepare "$@"
    ;;
release)
    INFORMIX_IMAGE=$(image "$1")
    export INFORMIX_IMAGE INFORMIX_PORT=$port
    shift
    compose=(docker compose --project-name informix-arrow-test --file tests/real/compose.yml)
    trap '"${compose[@]}" down --volumes' EXIT
    "${compose[@]}" up --detach
    prepare "$("${compose[@]}" ps --quiet informix)"
    suite --informix "informix://informix:in4mix@127.0.0.1:$port/?server=informix" tests/interop "$@"
    ;;
embedded)
    # `make test` asks a server of another process all that tests/interop asks, and these are minutes of hammering: rows
    # by the million, copies between servers, one kill, cancel, cut or spoilt byte at each step of a job, full disks,
    # memory over a long load, thousands of statements of one row, slow links, a database for each code set. What they are
    # about has tests that stay.
    left_out=(
        tests/integration/test_read_million.py tests/integration/test_write_millions.py tests/integration/test_staged_load_long.py
        tests/integration/test_copy.py tests/integration/test_large_object_round_trips.py
        tests/integration/test_reading_over_a_distance.py tests/integration/test_source_limits.py
        tests/integration/test_multibyte_databases.py tests/integration/test_apply_kills.py tests/cli/test_killed_jobs.py tests/cli/test_interrupts.py
        tests/integration/test_client_signal_exceptions.py tests/integration/test_aio_cancel.py
        tests/integration/test_client_network_faults.py tests/integration/test_hostile_replies.py
        tests/cli/test_full_disk.py tests/integration/test_copy_full_disk.py
        tests/integration/test_write_failures.py::test_memory_does_not_grow_with_the_load
        tests/integration/test_for_update.py::test_money_that_is_transferred_by_many_is_neither_made_nor_lost
        tests/sqlalchemy_dialect/test_results.py tests/sqlalchemy_dialect/test_async.py::test_rows_are_streamed
        tests/cli/test_load.py::test_a_load_that_was_killed_goes_on_behind_what_was_committed
    )
    options=()
    for each in "${left_out[@]}"; do
        case $each in *::*) options+=("--deselect=$each") ;; *) options+=("--ignore=$each") ;; esac
    done
    # Two of them: a server process has one core at most, and pytest's workers take turns at the URLs. Their user is an
    # ordinary one, who is DBA of the databases that the tests create and has no rights in others.
    logs=$(mktemp -d)
    servers=()
    trap 'kill "${servers[@]}" && wait "${servers[@]}" || true; rm -rf "$logs"' EXIT
    echo tester:in4mix >"$logs/users"
    for number in 1 2; do
        "$bin/informix-arrow" serve --port 0 --users "$logs/users" >"$logs/$number" 2>&1 &
        servers+=($!)
    done
    for number in 1 2; do
        until address=$(sed -n "s/^listening on //p" "$logs/$number") && [ -n "$address" ]; do
            kill -0 "${servers[number - 1]}"
            sleep 0.2
        done
        options+=("--informix=informix://tester:in4mix@$address/?server=informix")
    done
    suite "${options[@]}" "$@"
    ;;
*)
    echo "$command is none of url, release, embedded, prepare." >&2
    exit 2
    ;;
esac
