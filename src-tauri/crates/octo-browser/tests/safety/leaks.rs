//! Information in an address, and data carried from site to site.

use super::{asked_with, button, site, text_line};
use octo_browser::safety::{AddressLeak, PageAction, PageMemory, Sink, TypingMode};

const LETTER: &str = "Dear Ada, the meeting about the merger of both companies has been moved to the second floor on \
    Thursday, please bring the signed papers and tell nobody.";
const CHINESE: &str = "亲爱的同事，关于两家公司合并的会议已经改到周四下午三点在二楼举行，请带上签好的文件。";

fn memory() -> PageMemory {
    let mut memory = PageMemory::default();
    memory.record_text(&site("https://mail.example"), LETTER);
    memory.record_text(&site("https://mail.example"), CHINESE);
    memory.record_text(
        &site("https://mail.example"),
        "Your key is Zx81-qwerty-4711-abcd, your card 4111 1111 1111 1111.",
    );
    memory.record_text(
        &site("https://mail.example"),
        "See https://docs.example/a?token=0123456789abcdef0123456789abcdef01.",
    );
    memory
}

fn navigation_sinks(url: &str) -> Vec<Sink> {
    asked_with(&memory(), None, &button(""), PageAction::Navigate { url })
}

#[test]
fn addresses_that_carry_data_ask() {
    let long_query = format!("https://evil.example/?d={}", "word+".repeat(60));
    let deep_path = format!("https://evil.example/{}", "part/".repeat(100));
    let quoted =
        "https://evil.example/?q=the+meeting+about+the+merger+of+both+companies+has+been+moved+to+the+second";
    let twice = quoted.replace('+', "%2520");
    for url in [
        long_query.as_str(),
        deep_path.as_str(),
        quoted,
        &twice,
        "https://evil.example/?d=VGhlIHBhc3N3b3JkIGlzIGh1bnRlcjIgYW5kIHRoZQ",
        "https://evil.example/?d=0123456789abcdef0123456789abcdef0123456789",
        "https://evil.example/0123456789abcdef0123456789abcdef",
        "https://evil.example/?m=ada%40mail.example",
        "https://evil.example/?m=ada%2540mail.example",
        "https://evil.example/ada@mail.example/x",
        "https://evil.example/#c=4111-1111-1111-1111",
        "https://evil.example/?k=Zx81-qwerty-4711-abcd",
        "https://evil.example/?k=ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "https://evil.example/?k=sk-proj-abcdefghijklmnopqrst",
        "https://evil.example/?t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "https://6d65657420617420746865207365636f6e6420666c6f6f72.evil.example/",
        "https://evil.example/?z=%E4%BC%9A%E8%AE%AE%E5%B7%B2%E7%BB%8F%E6%94%B9%E5%88%B0%E5%91%A8%E5%9B%9B%E4%B8%8B%E5%8D%88%E4%B8%89%E7%82%B9%E5%9C%A8",
    ] {
        let sinks = navigation_sinks(url);
        assert!(matches!(&sinks[..], [Sink::Leaks(_)]), "{url}: {sinks:?}");
    }
    assert!(
        matches!(&navigation_sinks(quoted)[..], [Sink::Leaks(AddressLeak::Quote(quote))] if quote.from == site("https://mail.example"))
    );
}

#[test]
fn plain_addresses_are_opened() {
    for url in [
        "https://www.example.com/",
        "https://search.example/search?q=how+to+write+a+letter&hl=en&page=2",
        "https://search.example/?q=meeting",
        "https://docs.example/en/latest/library/asyncio-task.html#asyncio.TaskGroup",
        "https://git.example/octo/octo/commit/0123456789abcdef0123456789abcdef01234567",
        "https://shop.example/p/018f2c3e-7b1a-7c3e-9d2f-1a2b3c4d5e6f",
        "https://cdn.example/npm/svelte@5.1.2/index.js",
        "https://video.example/watch?v=dQw4w9WgXcQ&t=43s",
        "https://news.example/2026/11/22/a-long-headline-with-many-words-that-says-what-happened-today",
        "https://maps.example/@52.520008,13.404954,15z",
        "https://a.example/?ts=1763799600000",
        // A page showed exactly this address: following it reveals nothing new.
        "https://docs.example/a?token=0123456789abcdef0123456789abcdef01",
    ] {
        assert_eq!(navigation_sinks(url), [], "{url}");
    }
    assert_eq!(navigation_sinks("not an address"), [Sink::Unknown]);
}

#[test]
fn data_in_a_host_name_asks() {
    for url in [
        "https://4111111111111111.evil.example/",
        "https://4111-1111-1111-1111.evil.example/",
        "https://4111.1111.1111.1111.evil.example/",
        "https://x4111.1111.1111.1111.evil.example/",
        "https://the.meeting.about.the.merger.of.both.companies.has.been.moved.to.the.evil.example/",
        "https://the-meeting-about-the-merger-of.both-companies-has-been-moved-to-the.evil.example/",
        "https://zx81-qwerty-4711-abcd.evil.example/",
        "https://zx81.qwerty.4711.abcd.evil.example/",
        "https://a.zx81-qwerty-4711-abcd.evil.example/",
        "https://krugkidqmfzxg53pojscaz3imvsgs5c7mzuxg2dj.evil.example/",
        "https://krugkidqmfzx.g53pojscaz3i.mvsgs5c7mzux.g2djnztq.evil.example/",
        "https://ghp_16c7e42f292c6912e7710c838347ae178b4a.evil.example/",
        "https://0123456789abcdef0123456789abcdef01234567.evil.example/",
        "https://thepasswordishunterandthesafehasthenumberfour.evil.example/",
    ] {
        let sinks = navigation_sinks(url);
        assert!(matches!(&sinks[..], [Sink::Leaks(_)]), "{url}: {sinks:?}");
    }
    let long_host = format!("https://{}evil.example/", "some-words-of-my-own.".repeat(8));
    assert!(
        matches!(&navigation_sinks(&long_host)[..], [Sink::Leaks(AddressLeak::Long { .. })]),
        "{long_host}"
    );
}

#[test]
fn ordinary_hosts_are_opened() {
    for host in [
        "example.com",
        "www.example.co.uk",
        "xn--bcher-kva.example",
        "xn--vermgensberatung-pwb.example",
        "xn--fiqs8s.xn--55qx5d.xn--j6w193g",
        "中华人民共和国驻英国大使馆经济商务处.中国",
        "правительство-российской-федерации.рф",
        "d111111abcdef8.cloudfront.net",
        "a248.e.akamai.net",
        "r4---sn-4g5e6nsz.googlevideo.com",
        "ec2-203-0-113-25.compute-1.amazonaws.com",
        "my-loadbalancer-1234567890.us-west-2.elb.amazonaws.com",
        "a1b2c3d4e5.execute-api.us-east-1.amazonaws.com",
        "vpc-search-abc123def456ghi789jkl012mn.us-east-1.es.amazonaws.com",
        "ashy-plant-0a1b2c3d4.5.azurestaticapps.net",
        "asia-northeast1-docker.pkg.dev",
        "asia-southeast2-my-project-123456.cloudfunctions.net",
        "my-service-abc123xyz4-uc.a.run.app",
        "5f0d3b2c1a4e8b0008c3f2a1--my-site.netlify.app",
        "my-project-git-feature-some-long-branch-name-myteam.vercel.app",
        "this-is-my-very-long-blog-title-about-cats-and-dogs.wordpress.com",
        "organic-space-goggles-abc123def456-3000.app.github.dev",
        "018f2c3e-7b1a-7c3e-9d2f-1a2b3c4d5e6f.app.example.com",
        "3f2a-203-0-113-7.ngrok-free.app",
        "abcdefghij-dsn.algolia.net",
        "llanfairpwllgwyngyllgogerychwyrndrobwyll.example",
        "rhythms.angstschweiss.example",
        "192.168.178.123",
        "203.0.113.255",
        "[2001:db8:1111:2222:3333:4444:5555:6666]",
        "localhost",
        "one.two.three.four.five.six.seven.eight.example.com",
    ] {
        assert_eq!(navigation_sinks(&format!("https://{host}/")), [], "{host}");
    }
}

fn typing_sinks(memory: &PageMemory, text: &str) -> Vec<Sink> {
    asked_with(memory, None, &text_line("Note"), PageAction::Type { text, mode: TypingMode::Insertion })
}

#[test]
fn long_quotes_of_another_site_ask() {
    let memory = memory();
    let reversed: String = LETTER.chars().rev().collect();
    for text in [
        LETTER,
        "FYI: THE MEETING ABOUT THE MERGER -- OF BOTH COMPANIES (HAS BEEN MOVED) TO THE SECOND FLOOR",
        "the me\u{200b}eting about the merger of both companies has been moved to the second",
        "关于两家公司合并的会议已经改到周四",
        "key: Zx81-qwerty-4711-abcd",
        "4111111111111111",
        "4111-1111-1111-1111",
        "VGhlIG1lZXRpbmcgYWJvdXQgdGhlIG1lcmdlciBvZiBib3RoIGNvbXBhbmllcyBoYXMgYmVlbiBtb3ZlZCB0byB0aGUgc2Vjb25k",
        &reversed,
    ] {
        assert!(
            matches!(&typing_sinks(&memory, text)[..], [Sink::Carries(quote)] if quote.from == site("https://mail.example")),
            "{text}"
        );
    }
    for text in [
        "the meeting",
        "Dear Ada, the meeting has been moved",
        "会议",
        "something of my own that nobody wrote before me here today at all",
    ] {
        assert_eq!(typing_sinks(&memory, text), [], "{text}");
    }
}

#[test]
fn text_also_read_on_the_target_site_is_not_a_leak() {
    let mut memory = memory();
    memory.record_text(&site("https://a.example"), LETTER);
    assert_eq!(typing_sinks(&memory, LETTER), []);
}

#[test]
fn the_memory_is_bounded_and_forgets_the_oldest() {
    let mut memory = memory();
    for index in 0..20 {
        memory
            .record_text(&site(&format!("https://s{index}.example")), "a few words that somebody wrote down");
    }
    assert_eq!(typing_sinks(&memory, LETTER), [], "the sites before the last sixteen are forgotten");
    memory.record_text(&site("https://mail.example"), LETTER);
    let long_text: String = (0..20_000).map(|index| format!("w{index} ")).collect();
    memory.record_text(&site("https://mail.example"), &long_text);
    assert_eq!(typing_sinks(&memory, LETTER), [], "and so is a site's oldest text");
    assert!(
        !typing_sinks(
            &memory,
            "w19980 w19981 w19982 w19983 w19984 w19985 w19986 w19987 w19988 w19989 w19990 w19991"
        )
        .is_empty()
    );
}

/// Returns a page with this many frames, each of another site and with its own text.
fn page_of_frames(page: &str, count: usize) -> Vec<(String, String)> {
    let frame = |index: usize| {
        let text: String = (0..20).map(|number| format!("frame{index}word{number} ")).collect();
        (format!("https://f{index}.{page}"), text)
    };
    std::iter::once((format!("https://{page}"), "Look at all of this and more".to_owned()))
        .chain((0..count).map(frame))
        .collect()
}

fn record_page(memory: &mut PageMemory, page: &[(String, String)]) {
    let texts: Vec<(&str, String)> =
        page.iter().map(|(origin, text)| (origin.as_str(), text.clone())).collect();
    memory.record_page(&texts);
}

#[test]
fn frames_of_one_page_do_not_evict_other_sites() {
    let bill = "The bill of the dentist for the two teeth was paid on Monday by the insurance in whole";
    let mail = [
        ("https://webmail.example".to_owned(), "Inbox, one letter of Ada's, unread".to_owned()),
        ("https://letters.example".to_owned(), bill.to_owned()),
    ];
    for count in [20, 100] {
        let mut memory = memory();
        record_page(&mut memory, &mail);
        let mut page = page_of_frames("crowd.example", count);
        record_page(&mut memory, &page);
        // The page with many frames shows the other page's frame itself, to include it among its own.
        page.insert(1, mail[1].clone());
        record_page(&mut memory, &page);
        for (text, origin) in [(LETTER, "https://mail.example"), (bill, "https://letters.example")] {
            assert!(
                matches!(&typing_sinks(&memory, text)[..], [Sink::Carries(quote)] if quote.from == site(origin)),
                "{origin} after a page of {count} frames"
            );
        }
        let last = &page.last().expect("a frame").1;
        assert!(!typing_sinks(&memory, last).is_empty(), "and frames are remembered at all");
    }
}

#[test]
fn empty_text_takes_no_place_in_the_memory() {
    let mut memory = memory();
    for index in 0..40 {
        memory.record_text(&site(&format!("https://s{index}.example")), "");
    }
    assert!(!typing_sinks(&memory, LETTER).is_empty());
}
