// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Modifiers with arguments, with code after the body, and one inside the other.
contract Guards {
    bool locked;
    uint stage;
    address owner = msg.sender;

    modifier lock() {
        require(!locked);
        locked = true;
        _;
        locked = false;
    }

    modifier at(uint wanted) {
        require(stage == wanted);
        _;
        assert(stage >= wanted); // expect: safe
    }

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    function first() public lock at(0) {
        assert(locked); // expect: safe
        stage = 1;
    }

    function second() public onlyOwner lock at(1) {
        stage = 2;
    }

    function free() public view {
        assert(!locked); // expect: safe
        assert(stage < 2); // expect: unsafe
    }
}
