"""The command `completion`: a script that lets a shell complete commands, options and words."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes a SHELL complete commands, options, modes and kinds.

    Such as: eval "$(crosschain-mock completion bash)"
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"{shell} cannot be completed here; there are {', '.join(_SHELLS)}")
    root = ctx.find_root()
    click.echo(made(root.command, {}, "crosschain-mock", "_CROSSCHAIN_MOCK_COMPLETE").source())
