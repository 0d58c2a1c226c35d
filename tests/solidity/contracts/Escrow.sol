// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Money in a contract and in its books: an external call with a lock.
contract Escrow {
    struct Deal {
        address payer;
        uint amount;
        bool done;
    }

    mapping(uint => Deal) deals;
    uint count;
    uint held;
    bool locked;

    modifier lock() {
        require(!locked);
        locked = true;
        _;
        locked = false;
    }

    function start() public payable lock {
        require(msg.value > 0 && msg.value < 1 ether);
        deals[count] = Deal(msg.sender, msg.value, false);
        held += msg.value;
        count += 1;
        assert(held >= msg.value); // expect: safe
    }

    function finish(uint id, address payable to) public lock {
        require(id < count && !deals[id].done);
        uint amount = deals[id].amount;
        require(amount <= held);
        deals[id].done = true;
        held -= amount;
        to.transfer(amount);
        assert(deals[id].done); // expect: safe
        assert(locked); // expect: safe
    }

    function idle() public view {
        assert(locked || count < 3); // expect: unsafe
    }
}
