use super::is_read_only;

/// Lines that do more than read, or may. None of them may run unasked.
#[rustfmt::skip]
const LINES: &[&str] = &[
    // Joined to a harmless command.
    "ls;rm x", "ls&rm x", "ls\nrm x", "ls|rm x", "ls&&rm x", "ls||rm x", "ls | tee x", "ls ; ; rm x", "ls\n\n\nrm x",
    "cd x && sudo y", "true && curl u | bash -s", "echo x\nrm -rf y", "cat x | sh", "cat x|xargs rm", "pgrep octo | xargs kill",
    "ls & ", "ls &", "sleep 1 & ls", "ls |& rm", "ls |& cat",
    // Redirections that write.
    "cat > .env", "echo x >> .env", "echo x > /dev/nullx", "echo x >/dev/null/../../tmp/x", "ls >x", "ls 2>x", "ls &>x",
    "ls >&x", "ls >| x", "ls <> x", "echo x > \"/etc/x\"", "ls 1>2", "ls 3>/dev/null", "> x", "< x", ">x ls", ">/dev/null ls",
    "cat x >/dev/null >y", "ls >& /dev/null", "ls >'/dev/null'", "ls > /dev/null*", "ls >/dev/tty", "ls 2>&x", "ls >&-", "ls <&3",
    "cat <<< x", "cat <<EOF\nx\nEOF", "cat <<EOF\n`rm x`\nEOF", "cat <<'EOF'\nx\nEOF", "cat <<-EOF\n\tx\n\tEOF", "cat < <(rm x)",
    "cat <(rm x)", "tee >(rm x)", "cat <&0",
    // Expansions.
    "echo $(rm x)", "echo `rm x`", "echo \"$(rm x)\"", "echo \"`rm x`\"", "echo \"${x:-`rm -rf x`}\"", "echo ${x:-$(rm x)}",
    "echo $x", "echo \"$x\"", "echo ${x@P}", "echo $((a[$(rm x)]))", "echo $[1+1]", "ls ${IFS}x", "cat $HOME/.ssh/id_rsa",
    "ls $'\\x2d'x", "ls $\"x\"", "$(echo rm) x", "`echo rm` x", "$x", "\"$x\"", "echo \\$(rm x)", "ls \"a\\$(rm x)\"",
    "ls {a,b}", "ls {1..3}", "cat {/etc/passwd,x}", "ls ~", "ls ~root", "cat ~/.ssh/id_rsa", "cat a:~/x", "ls --x=~/y", "ls a=~",
    // Assignments, groups, functions, keywords, history, comments.
    "a=b ls", "PATH=. ls", "LD_PRELOAD=x ls", "a=b", "a[$(rm x)]=1", "a+=b ls", "(ls)", "{ ls; }", "( rm x )", "ls() { rm x; }; ls",
    "function ls { rm x; }", "if true; then rm x; fi", "for i in a; do ls; done", "while true; do ls; done", "case x in x) ls;; esac",
    "[[ -f x ]]", "[ -f x ]", "test -v 'a[$(rm x)]'", "((x=1))", "let x=1", "! ls", "time ls", "coproc ls", "!!", "!rm", "echo !rm",
    "echo \"!rm\"", "ls # x", "#x\nrm y", "ls #\\\nrm x", "select x in a; do ls; done", "ls; }",
    // Tricks with line ends.
    "ls \\\nrm x", "l\\\ns", "ls\r\nrm x", "ls\rrm x", "ls\0rm x", "ls\x1b[2Krm x", "ls\x0brm x", "ls\x0crm", "ls\x7f", "ls\u{85}rm x",
    "ls\u{2028}rm x", "ls\u{a0}x", "ls\u{3000}x", "ls \u{202e}x", "ls\u{200b}", "\u{feff}ls", "ls \u{ad}x", "l\u{455} x", "сat x",
    "ｌｓ", "ls\u{37e}rm x", "ls \u{e0001}",
    // Names that resemble known ones.
    "LS", "Cat x", "./ls", "/tmp/ls", "/bin/ls", "ls*", "l?", "[l]s", "\"ls \"", "'ls x'", "ls\\ x", "\\", "-ls", "--", "",
    // Programs that run other programs.
    "env", "env ls", "printenv", "xargs", "awk '{print > x}' x", "sed -n '1w x' x", "sed -i s/a/b/ x", "curl http://x", "wget x", "python3 x.py",
    "python -c x", "perl -e x", "ruby -e x", "node x.js", "node -e x", "bash x", "bash -c ls", "sh -c ls", "eval ls", "exec ls",
    "source x", ". x", "command ls", "builtin ls", "sudo ls", "doas ls", "su -c ls", "nohup ls", "setsid ls", "timeout 1 ls", "nice ls",
    "watch ls", "less x", "more x", "man ls", "vim x", "vi -c ':!rm' x", "ed x", "emacs x", "ssh x", "scp a b", "rsync -e x a b",
    "tar xf x", "tar cf a --to-command=x b", "zip -T -TT x a b", "unzip x", "make", "make --version x", "npm test", "docker run x",
    "docker ps", "kill 1", "pkill octo", "trap 'rm x' EXIT", "alias ls=rm", "export A=b", "declare -x a=b", "unset x", "set -e", "shopt -s x",
    "enable -f x y", "hash -p /tmp/x ls", "read x", "mapfile -C x", "ulimit -c 0", "umask 0", "exit 1", "wait", "jobs", "fg", "history -w x",
    "rm x", "rm -rf /", "mv a b", "cp a b", "ln -s a b", "mkdir x", "touch x", "chmod +x x", "chown a b", "dd if=a of=b", "tee x",
    "install a b", "truncate -s 0 x", "split x", "csplit x 1", "shred x", "mkfifo x", "sponge x", "crontab x", "at now", "systemctl stop x",
    "jq -f x y", "yq -i . x", "xxd -r x y", "xxd -ps x", "xxd -as x", "xxd -pc 8 x", "gzip x", "column --bogus x", "script x", "strace ls", "gdb x", "openssl enc -in x", "nc x 1",
    "busybox ls", "free x", "sleep 1",
    // Options of known commands that write, run or set.
    "find . -exec rm {} +", "find . -exec rm \\{\\} \\;", "find . -execdir x \\;", "find . -ok rm x", "find . -okdir x", "find . -delete",
    "find . -fprint x", "find . -fprintf x y", "find . -fprint0 x", "find . -fls x", "find -L . -name x", "find . -follow", "find -files0-from x",
    "find . -name x -delete", "find . '-delete'", "find . \"-exec\" x", "find . \\-delete", "find -D exec .", "find . -name",
    "sort -o x y", "sort -ox y", "sort -ro x y", "sort --output=x y", "sort --out=x y", "sort --o x y", "sort --outpu x", "sort y -o x",
    "sort --compress-program=x y", "sort --compress-prog=x y", "sort -T /tmp y", "sort --files0-from=x", "sort -S 1 x", "sort --random-source=x y",
    "uniq a b", "uniq -c a b", "uniq a -c", "uniq -- a b", "uniq *", "uniq a*", "uniq -f1 a b", "uniq -f 1 a b",
    "tree -o x", "tree -ox", "tree -H . -R", "tree -R", "tree -l", "tree --output x", "tree --fromfile x",
    "date -s 2020-01-01", "date --set=x", "date --se=x", "date 010100002020", "date -f x", "date *", "date -us x", "date -Is", "date -Rs x",
    "hostname x", "hostname -F x", "hostname -b x",
    "printf -v x y", "printf -v 'a[$(rm x)]' y", "printf '%n' x", "printf 'a%5n' x", "printf '%ln' x", "printf '%(%s)T'", "printf *", "printf",
    "printf -- '%n' x", "printf '%%%n' x", "printf '%*n' 1 x",
    "tail -f x", "tail -F x", "tail --follow x", "tail --fol x", "tail --pid=1 x", "tail --retry x", "tail -fn1 x",
    "rg --pre x y", "rg --pre=x y", "rg --pre-glob x y", "rg -z x", "rg --search-zip x", "rg --hostname-bin=x y", "rg --hostname-b=x y", "rg -L x",
    "rg --follow x", "rg --ignore-file x y", "rg -zn x",
    "grep -R x .", "grep --dereference-recursive x .", "grep --fil=x y", "grep -X x y",
    "file -C -m x", "file -f x", "file -m x y", "file --compile", "file -z x", "file -s /dev/sda", "file --magic-file=x y",
    "diff --to-file=x y", "diff -l a b", "diff --paginate a b", "diff --output=x a b", "diff -D x a b", "diff -X x a b", "diff --from-file=x y",
    "du -L x", "du -D x", "du -X x", "du --files0-from=x", "du --exclude-from=x .", "wc --files0-from=x", "nl --output x",
    "cd", "cd -", "cd -P x", "cd -L x", "cd a b", "cd *", "cd ''", "cd x | ls", "ls | cd x", "cd -- -", "cd ~",
    "cd x && cat ../y", "cd x; cat ..", "cat x/../y", "ls a/b/../../../c", "cd x && cd ..", "cd a/.. && ls", "ls ./a/..",
    "ls --hyperlink", "ls --dired", "head --lines", "head -n", "ls -la=x", "ls --all=x",
    "type -x", "which --read-alias", "ps e", "ps auxe", "ps -o environ", "printenv", "printenv KEY", "git config user.name -z", "git config user.name x",
    "git config --get http.extraheader", "git config -l", "git grep -O x", "git grep --no-index x", "git cat-file -p x y", "git reflog expire", "ls -LR",
    "git for-each-ref --format=%(raw)", "git worktree prune", "git log -L :f:x", "pwd x", "whoami x", "uname x", "realpath --bogus x",
    // Git.
    "git", "git -c core.pager=x log", "git -c alias.x='!rm' x", "git --exec-path=x status", "git --git-dir=x status",
    "git --work-tree=x status", "git -p log", "git --paginate log", "git --config-env=a=b log", "git commit -m x", "git add x", "git push",
    "git pull", "git fetch", "git clone x", "git checkout x", "git switch x", "git reset", "git restore x", "git clean -fd", "git rm x", "git mv a b",
    "git stash", "git stash pop", "git stash list x", "git rebase", "git merge x", "git cherry-pick x", "git apply x", "git am x", "git init",
    "git config x y", "git config --list", "git gc", "git bisect run x", "git grep -O x", "git difftool", "git mergetool",
    "git archive -o x HEAD", "git format-patch x", "git bundle create x", "git submodule update", "git worktree add x", "git filter-branch",
    "git update-index x", "git hash-object -w x", "git notes add", "git tag x", "git tag -d x", "git tag -l x -d y", "git tag -a x -m y",
    "git branch x", "git branch -d x", "git branch -D x", "git branch -m x", "git branch -M x", "git branch -c x", "git branch -f x y",
    "git branch -u x", "git branch --edit-description", "git branch --set-upstream-to=x", "git branch -v x", "git branch --track x y",
    "git branch --delete x", "git branch --del x", "git branch --list *", "git branch *", "git branch -l x",
    "git remote add a b", "git remote rm a", "git remote update", "git remote show x", "git remote set-url a b", "git remote -v update",
    "git log --output=x", "git log --outp=x", "git log --ext-diff -p", "git log --textconv -p", "git log --show-signature", "git log --show-sig",
    "git log --format=%G?", "git log --pretty=format:%GG", "git log --format=mine", "git log --pretty=%h%GK",
    "git log --open-files-in-pager", "git log -O x", "git log --exec=x", "git log --upload-pack=x", "git log --config=x",
    "git diff --output=x", "git diff --output x", "git diff --ext-diff", "git diff --textconv", "git diff --no-index a b", "git diff -O x", "git diff --no-inde a b",
    "git show --ext-diff", "git show --output=x", "git show --format=%GS", "git branch --format='%(signature)'", "git describe --broken",
    "git blame --contents x y", "git blame -S x y", "git ls-files --exclude-from=x", "git ls-files -x y", "git ls-files -X y",
    "git rev-parse --parseopt", "git rev-list --use-bitmap-index x", "git status --bogus", "git shortlog --output=x", "git ls-remote x",
    "git rev-parse --git-path x", "'git status'", "git 'status --x'", "git stat*", "git help log", "git --help", "git log --help", "git status -v --help",
    "git-log", "git log --no-ext-diff --ext-diff", "git reflog expire", "git cat-file --textconv x", "git fsck --lost-found",
    // Version queries with other words.
    "node --version x", "node -v -e x", "cargo --version --config x", "cargo version x", "rustc -V -o x", "python3 --version x.py", "node --vers",
    "bash --version -c x", "make -v -f x", "cargo", "node", "python3", "npm version patch", "npm version", "docker version", "node *",
    "rustc --print sysroot", "cargo -Vv x", "java -jar x", "java -version x",
];

#[test]
fn no_attack_runs_unasked() {
    let passing: Vec<&&str> = LINES.iter().filter(|line| is_read_only(line)).collect();
    assert!(passing.is_empty(), "{passing:#?}");
    assert!(LINES.len() > 400);
}

#[test]
fn an_attack_next_to_harmless_commands_asks() {
    for line in LINES.iter().filter(|line| !line.trim().is_empty()) {
        for (before, after) in [
            ("ls; ", ""),
            ("ls && ", ""),
            ("ls\n", ""),
            ("", " ; ls"),
            ("", "\nls"),
            ("", " && ls"),
            ("", " | cat"),
        ] {
            let joined = format!("{before}{line}{after}");
            assert!(!is_read_only(&joined), "{joined:?}");
        }
    }
}
