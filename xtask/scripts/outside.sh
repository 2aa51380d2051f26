#!/bin/sh
# Makes projects that have nothing but the packages in target/packages, and tests those that are named, or all: one of each template,
# made by a program that is itself built from the packages; a crate of tools; the bridges. They are built with the versions in the lock
# files of the workspace and of the bridges. Needs the version of the packages in $VERSION.
set -eu

out=${TMPDIR:-/tmp}/toolwright-outside
export CARGO_TARGET_DIR=$PWD/target/packages/build
# Debug information of the dependencies takes gigabytes. Tests that need other software are skipped, as there is none.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 CI=
rm -rf $out && mkdir -p $out/.cargo $out/maker/src $out/tools/src $out/repository

# The bridges need the layout of the repository. Dependencies of the tools are those of the table of the workspace.
git ls-files -z bridges examples/assistant-tools docs/other-frameworks.md tests/real tests/support \
    | xargs -0 cp --parents --target-directory $out/repository
sed '/^\[package\]/,$d; s|^members = .*|members = ["examples/assistant-tools"]|' Cargo.toml >$out/repository/Cargo.toml

echo '[patch.crates-io]' >$out/.cargo/config.toml
for crate in target/packages/package/*.crate; do
    package=$(basename $crate .crate) && name=${package%-*}
    folder=$out/repository/crates/${name#toolwright-}
    # With the time of now: Cargo takes a file with the same time for the same file.
    mkdir -p $folder && tar -xzmf $crate -C $folder --strip-components=1
    echo "$name = { path = \"$folder\" }" >>$out/.cargo/config.toml
done

project() {
    cp Cargo.lock $out/$1
    cat >$out/$1/Cargo.toml <<END
[package]
name = "$1"
version = "0.1.0"
edition = "2024"

[dependencies]
toolwright = { version = "$VERSION"$2 }

[dev-dependencies]
tokio = { version = "1", features = ["macros", "rt"] }
END
}
# The features of the template `app`.
project maker ', features = ["cli", "sqlite"]'
echo 'fn main() -> std::process::ExitCode { toolwright::app!().run() }' >$out/maker/src/main.rs
(cd $out/maker && cargo build)
# The error for a template that does not exist lists those that do.
templates=$($CARGO_TARGET_DIR/debug/maker new mistake --template '?' 2>&1 | sed -n 's/.*possible values: \(.*\)\].*/\1/p' | tr -d ,)
for template in ${templates:?are not listed}; do
    (cd $out && $CARGO_TARGET_DIR/debug/maker new template-$template --template $template --published)
    cp Cargo.lock $out/template-$template
done
project tools ''
cp $out/template-app/src/tools.rs $out/tools/src/lib.rs

cd $out
if [ $# = 0 ]; then set -- template-* tools bridges; fi
for project; do
    case $project in bridges) folder=repository/bridges ;; *) folder=$project ;; esac
    if [ ! -e $folder/Cargo.toml ]; then
        echo "no project $project; there are" template-* tools bridges
        exit 1
    fi
    echo "== $project"
    (cd $folder && cargo test --workspace --no-fail-fast)
done
# Kept after a failure, to be looked at.
cd / && rm -rf $out
